// What is believed of the rows of a pool, kept up to date label by label.
//
// Columns lie one behind the other here, so that a register holds the same column of several rows and a label, which
// changes one class only, costs one sweep over the table.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BAYESWISE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BAYESWISE_CLONES
#endif

namespace nb = nanobind;

namespace {

constexpr int64_t kBlockRows = 512;    // their sums stay in the first-level cache
constexpr int64_t kBlockColumns = 64;  // sums this short lose nothing that matters; longer ones add with their error

using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(what);
}

// sum[r] += -z^2 / 2 + log_peak over the present cells of one column.
BAYESWISE_CLONES
void add_cells(double* __restrict sum, const double* __restrict x, int64_t n_rows, double mean, double mean_low,
               double precision, double log_peak) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double z = ((x[r] - mean) - mean_low) * precision;
        const double term = log_peak - 0.5 * (z * z);
        sum[r] += x[r] == x[r] ? term : 0.0;
    }
}

// total + error is the running sum; error keeps what rounding dropped (TwoSum).
BAYESWISE_CLONES
void add_with_error(double* __restrict total, double* __restrict error, const double* __restrict part, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double sum = total[r] + part[r];
        const double back = sum - total[r];
        error[r] += (total[r] - (sum - back)) + (part[r] - back);
        total[r] = sum;
    }
}

void normal_column(Vector log_likelihood, Columns columns, Numbers mean, Numbers mean_low, Numbers precision,
                   Numbers log_peak) {
    const int64_t n_columns = columns.shape(0), n_rows = columns.shape(1);
    require(static_cast<int64_t>(log_likelihood.shape(0)) == n_rows, "log_likelihood and columns differ in rows");
    for (const Numbers& each : {mean, mean_low, precision, log_peak})
        require(static_cast<int64_t>(each.shape(0)) == n_columns, "columns and parameters differ in number");
    nb::gil_scoped_release release;
    double total[kBlockRows], error[kBlockRows], part[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        std::fill(total, total + here, 0.0);
        std::fill(error, error + here, 0.0);
        for (int64_t block = 0; block < n_columns; block += kBlockColumns) {
            std::fill(part, part + here, 0.0);
            for (int64_t c = block; c < std::min(n_columns, block + kBlockColumns); ++c)
                add_cells(part, columns.data() + c * n_rows + first, here, mean.data()[c], mean_low.data()[c],
                          precision.data()[c], log_peak.data()[c]);
            add_with_error(total, error, part, here);
        }
        double* out = log_likelihood.data() + first;
        // An infinite total has no error term worth adding.
        for (int64_t r = 0; r < here; ++r) out[r] = std::isfinite(total[r]) ? total[r] + error[r] : total[r];
    }
}

BAYESWISE_CLONES
void take_state(double* __restrict top, double* __restrict second, const double* __restrict log_state, double log_prior,
                int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double log_joint = log_state[r] + log_prior;
        second[r] = std::max(second[r], std::min(top[r], log_joint));
        top[r] = std::max(top[r], log_joint);
    }
}

void leads(Vector lead, Columns log_states, Numbers log_prior) {
    const int64_t n_states = log_states.shape(0), n_rows = log_states.shape(1);
    require(static_cast<int64_t>(lead.shape(0)) == n_rows, "lead and log_states differ in rows");
    require(static_cast<int64_t>(log_prior.shape(0)) == n_states, "log_states and log_prior differ in states");
    nb::gil_scoped_release release;
    double top[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        double* second = lead.data() + first;
        std::fill(top, top + here, -std::numeric_limits<double>::infinity());
        std::fill(second, second + here, -std::numeric_limits<double>::infinity());
        for (int64_t k = 0; k < n_states; ++k)
            take_state(top, second, log_states.data() + k * n_rows + first, log_prior.data()[k], here);
        for (int64_t r = 0; r < here; ++r) second[r] = top[r] - second[r];
    }
}

}  // namespace

void bind_pool(nb::module_& m) {
    m.def("normal_column", &normal_column, nb::arg("log_likelihood").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("mean"), nb::arg("mean_low"), nb::arg("precision"), nb::arg("log_peak"),
          "log_likelihood = sum over present cells of log Normal(x; mean + mean_low, 1 / precision), for one state");
    m.def("leads", &leads, nb::arg("lead").noconvert(), nb::arg("log_states").noconvert(), nb::arg("log_prior"),
          "lead = the largest log joint of each row less the second largest; NaN if all are -inf");
}
