// The extension module: each kernel file binds its own functions.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_isa(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_arrow(nb::module_& m);
void bind_likelihood(nb::module_& m);
void bind_pool(nb::module_& m);
void bind_screen(nb::module_& m);
void bind_words(nb::module_& m);
void bind_integers(nb::module_& m);
void bind_gaussian(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_row_order(nb::module_& m);
void bind_factors(nb::module_& m);
void bind_gibbs(nb::module_& m);
void bind_families(nb::module_& m);
void bind_dependences(nb::module_& m);
void bind_cuts(nb::module_& m);
void bind_decisions(nb::module_& m);
void bind_pair_counts(nb::module_& m);
void bind_family_scores(nb::module_& m);
void bind_expected_counts(nb::module_& m);
void bind_subset_sums(nb::module_& m);
void bind_exact_structure(nb::module_& m);
void bind_exact_quotients(nb::module_& m);

NB_MODULE(_kernels, m) {
    m.doc() = "Hot loops of bayeswise. Each has a plain NumPy twin in the tests.";
    bind_isa(m);
    bind_exact(m);
    bind_arrow(m);
    bind_likelihood(m);
    bind_pool(m);
    bind_screen(m);
    bind_words(m);
    bind_integers(m);
    bind_gaussian(m);
    bind_regression(m);
    bind_softmax(m);
    bind_row_order(m);
    bind_factors(m);
    bind_gibbs(m);
    bind_families(m);
    bind_dependences(m);
    bind_cuts(m);
    bind_decisions(m);
    bind_pair_counts(m);
    bind_family_scores(m);
    bind_expected_counts(m);
    bind_subset_sums(m);
    bind_exact_structure(m);
    bind_exact_quotients(m);
}
