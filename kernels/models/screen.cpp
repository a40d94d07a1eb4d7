// Which rows of a pool may be the most uncertain, in single precision: half the memory of a sweep in double precision.
//
// Sums are rough here, and say so: screen.py proves how rough, and rows within reach of the best are looked at again.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

constexpr int64_t kBlockRows = 1024;  // their sums stay in the first-level cache
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Line = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lines = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;  // a range of rows, side by side in each line
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// sum[r] += log_peak - z^2 over the present cells of one column.
BAYESWISE_INLINE void add_cells(float* __restrict sum, const float* __restrict x, int64_t n_rows, float mean,
                                float rate, float log_peak) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const float z = (x[r] - mean) * rate;
        const float term = log_peak - z * z;
        sum[r] += x[r] == x[r] ? term : 0.0f;
    }
}

void rough_normal(Line log_likelihood, Lines columns, Numbers mean, Numbers rate, Numbers log_peak) {
    const int64_t n_columns = columns.shape(0), n_rows = columns.shape(1);
    require(static_cast<int64_t>(log_likelihood.shape(0)) == n_rows, "log_likelihood and columns differ in rows");
    require(n_rows <= 1 || n_columns == 0 || columns.stride(1) == 1, "the cells of a column must lie side by side");
    for (const Numbers& each : {mean, rate, log_peak})
        require(static_cast<int64_t>(each.shape(0)) == n_columns, "columns and parameters differ in number");
    nb::gil_scoped_release release;
    alignas(64) float sum[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        std::fill(sum, sum + here, 0.0f);
        for (int64_t c = 0; c < n_columns; ++c)
            on_isa<add_cells>(sum, columns.data() + c * columns.stride(0) + first, here,
                              static_cast<float>(mean.data()[c]), static_cast<float>(rate.data()[c]),
                              static_cast<float>(log_peak.data()[c]));
        std::copy(sum, sum + here, log_likelihood.data() + first);
    }
}

BAYESWISE_INLINE void take_top(float* __restrict top, float* __restrict second, const float* __restrict log_state,
                               float log_prior, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const float log_joint = log_state[r] + log_prior;
        second[r] = std::max(second[r], std::min(top[r], log_joint));
        top[r] = std::max(top[r], log_joint);
    }
}

// Infinite where a sum is: such a row has to be looked at.
BAYESWISE_INLINE void raise_by_error(float* __restrict upper, const float* __restrict top,
                                     const float* __restrict second, float error, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const float raised = (second[r] - top[r]) + error * (std::fabs(second[r]) + std::fabs(top[r]));
        upper[r] = raised == raised ? raised : kInfinity;
    }
}

void upper_log_odds(Line upper, Lines log_states, Numbers log_prior, Flags is_open, double error) {
    const int64_t n_states = log_states.shape(0), n_rows = log_states.shape(1);
    require(static_cast<int64_t>(upper.shape(0)) == n_rows, "upper and log_states differ in rows");
    require(static_cast<int64_t>(is_open.shape(0)) == n_rows, "is_open and log_states differ in rows");
    require(n_rows <= 1 || log_states.stride(1) == 1, "the rows of a state must lie side by side");
    require(static_cast<int64_t>(log_prior.shape(0)) == n_states, "log_states and log_prior differ in states");
    nb::gil_scoped_release release;
    alignas(64) float top[kBlockRows], second[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        std::fill(top, top + here, -kInfinity);
        std::fill(second, second + here, -kInfinity);
        for (int64_t k = 0; k < n_states; ++k)
            on_isa<take_top>(top, second, log_states.data() + k * log_states.stride(0) + first,
                             static_cast<float>(log_prior.data()[k]), here);
        float* out = upper.data() + first;
        on_isa<raise_by_error>(out, top, second, static_cast<float>(error), here);
        const bool *row = is_open.data() + first, *begin = row, *end = row + here;
        while ((row = static_cast<const bool*>(std::memchr(row, false, end - row)))) out[row++ - begin] = -kInfinity;
    }
}

}  // namespace

void bind_screen(nb::module_& m) {
    m.def("rough_normal", &rough_normal, nb::arg("log_likelihood").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("mean"), nb::arg("rate"), nb::arg("log_peak"),
          "log_likelihood = sum over present cells of log_peak - ((x - mean) rate)^2, for one state");
    m.def("upper_log_odds", &upper_log_odds, nb::arg("upper").noconvert(), nb::arg("log_states").noconvert(),
          nb::arg("log_prior"), nb::arg("is_open"), nb::arg("error"),
          "upper = second - top + error (|second| + |top|) of the log joints of each row; minus infinity where the row "
          "is "
          "not open");
}

}  // namespace bayeswise::models
