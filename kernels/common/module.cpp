// The extension module: each kernel file binds its own functions.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace bayeswise {
void bind_isa(nb::module_& m);
}  // namespace bayeswise
namespace bayeswise::exact {
void bind_exact(nb::module_& m);
void bind_exact_quotients(nb::module_& m);
}  // namespace bayeswise::exact
namespace bayeswise::tables {
void bind_arrow(nb::module_& m);
void bind_parquet(nb::module_& m);
void bind_words(nb::module_& m);
void bind_integers(nb::module_& m);
void bind_extremes(nb::module_& m);
}  // namespace bayeswise::tables
namespace bayeswise::models {
void bind_likelihood(nb::module_& m);
void bind_pool(nb::module_& m);
void bind_screen(nb::module_& m);
void bind_gaussian(nb::module_& m);
void bind_posteriors(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_row_order(nb::module_& m);
void bind_student_t(nb::module_& m);
void bind_dependences(nb::module_& m);
void bind_cuts(nb::module_& m);
void bind_pair_counts(nb::module_& m);
void bind_boosted_trees(nb::module_& m);
void bind_positive_systems(nb::module_& m);
void bind_log_gamma(nb::module_& m);
}  // namespace bayeswise::models
namespace bayeswise::networks {
void bind_factors(nb::module_& m);
void bind_gibbs(nb::module_& m);
void bind_families(nb::module_& m);
void bind_family_scores(nb::module_& m);
void bind_edge_changes(nb::module_& m);
void bind_expected_counts(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_subset_sums(nb::module_& m);
void bind_exact_structure(nb::module_& m);
void bind_order_chain(nb::module_& m);
}  // namespace bayeswise::networks
namespace bayeswise::decisions {
void bind_decisions(nb::module_& m);
void bind_diagrams(nb::module_& m);
}  // namespace bayeswise::decisions

NB_MODULE(_kernels, m) {
    using namespace bayeswise;
    m.doc() = "Hot loops of bayeswise. Each has a plain NumPy twin in the tests.";
#ifdef NDEBUG
    // Python need not free what modules hold when it ends, and users are not the ones to tell of it.
    nb::set_leak_warnings(false);
#endif
    bind_isa(m);
    exact::bind_exact(m);
    tables::bind_arrow(m);
    tables::bind_parquet(m);
    models::bind_likelihood(m);
    models::bind_pool(m);
    models::bind_screen(m);
    tables::bind_words(m);
    tables::bind_integers(m);
    tables::bind_extremes(m);
    models::bind_gaussian(m);
    models::bind_posteriors(m);
    models::bind_regression(m);
    models::bind_softmax(m);
    models::bind_row_order(m);
    models::bind_student_t(m);
    networks::bind_factors(m);
    networks::bind_gibbs(m);
    networks::bind_families(m);
    models::bind_dependences(m);
    models::bind_cuts(m);
    decisions::bind_decisions(m);
    decisions::bind_diagrams(m);
    models::bind_pair_counts(m);
    models::bind_boosted_trees(m);
    models::bind_positive_systems(m);
    models::bind_log_gamma(m);
    networks::bind_family_scores(m);
    networks::bind_edge_changes(m);
    networks::bind_expected_counts(m);
    networks::bind_sequences(m);
    networks::bind_subset_sums(m);
    networks::bind_exact_structure(m);
    networks::bind_order_chain(m);
    exact::bind_exact_quotients(m);
}
