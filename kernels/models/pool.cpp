// The posteriors of the rows of a pool, updated label by label.
//
// Columns lie one behind the other here, so that a register holds the same column of several rows and a label, which
// changes one class only, costs one sweep over the table; exponentials are computed in registers as well.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/exponential.hpp"
#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

constexpr int64_t kBlockRows = 512;    // their sums stay in the first-level cache
constexpr int64_t kBlockColumns = 64;  // sums this short lose nothing that matters; longer ones add with their error

using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;  // a range of rows of contiguous columns

// sum[r] += -z^2 / 2 + log_peak over the present cells of one column.
BAYESWISE_INLINE void add_cells(double* __restrict sum, const double* __restrict x, int64_t n_rows, double mean,
                                double mean_low, double precision, double log_peak) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double z = ((x[r] - mean) - mean_low) * precision;
        const double term = log_peak - 0.5 * (z * z);
        sum[r] += x[r] == x[r] ? term : 0.0;
    }
}

// total + error is the running sum; error keeps what rounding dropped (TwoSum).
BAYESWISE_INLINE void add_with_error(double* __restrict total, double* __restrict error, const double* __restrict part,
                                     int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double sum = total[r] + part[r];
        const double back = sum - total[r];
        error[r] += (total[r] - (sum - back)) + (part[r] - back);
        total[r] = sum;
    }
}

// An infinite total has no error term worth adding.
BAYESWISE_INLINE void add_up(double* __restrict sum, const double* __restrict total, const double* __restrict error,
                             int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) sum[r] = total[r] + (total[r] - total[r] == 0.0 ? error[r] : 0.0);
}

void normal_column(Vector log_likelihood, Columns columns, Numbers mean, Numbers mean_low, Numbers precision,
                   Numbers log_peak) {
    const int64_t n_columns = columns.shape(0), n_rows = columns.shape(1);
    require(static_cast<int64_t>(log_likelihood.shape(0)) == n_rows, "log_likelihood and columns differ in rows");
    require(n_rows <= 1 || n_columns == 0 || columns.stride(1) == 1, "the cells of a column must lie side by side");
    for (const Numbers& each : {mean, mean_low, precision, log_peak})
        require(static_cast<int64_t>(each.shape(0)) == n_columns, "columns and parameters differ in number");
    nb::gil_scoped_release release;
    alignas(64) double total[kBlockRows], error[kBlockRows], part[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        std::fill(total, total + here, 0.0);
        std::fill(error, error + here, 0.0);
        for (int64_t block = 0; block < n_columns; block += kBlockColumns) {
            std::fill(part, part + here, 0.0);
            for (int64_t c = block; c < std::min(n_columns, block + kBlockColumns); ++c)
                on_isa<add_cells>(part, columns.data() + c * columns.stride(0) + first, here, mean.data()[c],
                                  mean_low.data()[c], precision.data()[c], log_peak.data()[c]);
            on_isa<add_with_error>(total, error, part, here);
        }
        on_isa<add_up>(log_likelihood.data() + first, total, error, here);
    }
}

// gap += x - first over the present cells of each column, where `first` is the first of them.
BAYESWISE_INLINE void add_gaps(double* __restrict count, double* __restrict first, double* __restrict gap,
                               const double* __restrict x, int64_t n_rows, int64_t n_columns) {
    for (int64_t r = 0; r < n_rows; ++r, x += n_columns)
        for (int64_t c = 0; c < n_columns; ++c) {
            const double present = x[c] == x[c] ? 1.0 : 0.0;
            const double cell = x[c] == x[c] ? x[c] : first[c];
            first[c] = count[c] == 0.0 ? cell : first[c];
            gap[c] += cell - first[c];
            count[c] += present;
        }
}

// rest = (x - first) - gap, where `gap` is the mean of x - first: the sum of the rests, and of their squares.
BAYESWISE_INLINE void add_rests(double* __restrict sum, double* __restrict squares, const double* __restrict x,
                                const double* __restrict first, const double* __restrict gap, int64_t n_rows,
                                int64_t n_columns) {
    for (int64_t r = 0; r < n_rows; ++r, x += n_columns)
        for (int64_t c = 0; c < n_columns; ++c) {
            const double rest = x[c] == x[c] ? (x[c] - first[c]) - gap[c] : 0.0;
            sum[c] += rest;
            squares[c] += rest * rest;
        }
}

// In two passes: about the first cell, so that equal cells have no spread at all, and about the mean.
void moments_of_rows(Table moments, Rows values) {
    const int64_t n_rows = values.shape(0), n_columns = values.shape(1);
    require(moments.shape(0) == 4 && static_cast<int64_t>(moments.shape(1)) == n_columns,
            "moments are four numbers for each column");
    nb::gil_scoped_release release;
    double *count = moments.data(), *mean = count + n_columns, *mean_low = mean + n_columns;
    double* stddev = mean_low + n_columns;
    std::fill(count, stddev + n_columns, 0.0);
    std::vector<double> gap(n_columns), sum(n_columns);
    on_isa<add_gaps>(count, mean, gap.data(), values.data(), n_rows, n_columns);
    for (int64_t c = 0; c < n_columns; ++c) gap[c] /= std::max(count[c], 1.0);
    on_isa<add_rests>(sum.data(), stddev, values.data(), mean, gap.data(), n_rows, n_columns);
    for (int64_t c = 0; c < n_columns; ++c) {
        const double n = std::max(count[c], 1.0), rest = sum[c] / n;  // what rounding has left of the mean
        stddev[c] = std::sqrt(std::max(stddev[c] / n - rest * rest, 0.0));
        const double high = mean[c] + gap[c], back = high - mean[c];
        mean_low[c] = ((mean[c] - (high - back)) + (gap[c] - back)) + rest;  // TwoSum
        mean[c] = high;
    }
}

constexpr double kLeast = -700.0;  // exp of anything below is as good as 0
// log(x) for a normal x from 1 on.
BAYESWISE_INLINE double logarithm(double x) {
    const int64_t bits = bits_of(x) - 0x3fe6a09e667f3bcd;  // of sqrt(1/2), so that the rest lies around 1
    const double exponent = static_cast<double>(static_cast<int32_t>(bits >> 52));
    const double m = double_of((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
    const double f = (m - 1.0) / (m + 1.0), square = f * f;
    double p = 1.0 / 21.0;
    constexpr double kInverseOdd[] = {1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0,
                                      1.0 / 9.0,  1.0 / 7.0,  1.0 / 5.0,  1.0 / 3.0,  1.0};
    for (double c : kInverseOdd) p = p * square + c;
    return exponent * (kLn2High + kLn2Low) + 2.0 * f * p;
}

BAYESWISE_INLINE void take_top(double* __restrict top, double* __restrict second, const double* __restrict log_state,
                               double log_prior, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double log_joint = log_state[r] + log_prior;
        second[r] = std::max(second[r], std::min(top[r], log_joint));
        top[r] = std::max(top[r], log_joint);
    }
}

// sum += exp(log joint - top).
BAYESWISE_INLINE void add_shares(double* __restrict sum, const double* __restrict top,
                                 const double* __restrict log_state, double log_prior, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) sum[r] += exponential(std::max(kLeast, (log_state[r] + log_prior) - top[r]));
}

// The same, and weighted += each share times (log joint - top).
BAYESWISE_INLINE void add_weighted_shares(double* __restrict sum, double* __restrict weighted,
                                          const double* __restrict top, const double* __restrict log_state,
                                          double log_prior, int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const double below = std::max(kLeast, (log_state[r] + log_prior) - top[r]);
        const double share = exponential(below);
        sum[r] += share;
        weighted[r] += share * below;
    }
}

constexpr double kNothing = -std::numeric_limits<double>::infinity();
enum Kind { kEntropy = 0, kMargin = 1, kLeastConfident = 2, kLogLead = 3 };

BAYESWISE_INLINE void finish(double* __restrict score, const double* __restrict top, const double* __restrict second,
                             const double* __restrict sum, const double* __restrict weighted, int64_t n_rows,
                             int kind) {
    if (kind == kEntropy) {
        for (int64_t r = 0; r < n_rows; ++r) score[r] = (logarithm(sum[r]) - weighted[r] / sum[r]) * kLog2e;
    } else if (kind == kMargin) {
        for (int64_t r = 0; r < n_rows; ++r)
            score[r] = 1.0 - (1.0 - exponential(std::max(kLeast, second[r] - top[r]))) / sum[r];
    } else if (kind == kLeastConfident) {
        for (int64_t r = 0; r < n_rows; ++r) score[r] = 1.0 - 1.0 / sum[r];
    } else {
        for (int64_t r = 0; r < n_rows; ++r) score[r] = second[r] - top[r];
    }
    for (int64_t r = 0; r < n_rows; ++r)  // a row that no state allows has no posterior
        score[r] =
            top[r] >= std::numeric_limits<double>::lowest() ? score[r] : std::numeric_limits<double>::quiet_NaN();
}

// A row that is not open is never the best one; few rows are not, and a search for bytes finds them quickly.
void close_rows(double* score, const bool* is_open, int64_t n_rows) {
    const bool *row = is_open, *end = is_open + n_rows;
    while ((row = static_cast<const bool*>(std::memchr(row, false, end - row)))) score[row++ - is_open] = kNothing;
}

void uncertainty(Vector score, Columns log_states, Numbers log_prior, Flags is_open, int kind) {
    const int64_t n_states = log_states.shape(0), n_rows = log_states.shape(1);
    require(static_cast<int64_t>(score.shape(0)) == n_rows, "score and log_states differ in rows");
    require(static_cast<int64_t>(is_open.shape(0)) == n_rows, "is_open and log_states differ in rows");
    require(n_rows <= 1 || log_states.stride(1) == 1, "the rows of a state must lie side by side");
    require(static_cast<int64_t>(log_prior.shape(0)) == n_states, "log_states and log_prior differ in states");
    require(kind >= kEntropy && kind <= kLogLead, "there is no such kind");
    nb::gil_scoped_release release;
    alignas(64) double top[kBlockRows], second[kBlockRows], sum[kBlockRows], weighted[kBlockRows];
    for (int64_t first = 0; first < n_rows; first += kBlockRows) {
        const int64_t here = std::min(kBlockRows, n_rows - first);
        std::fill(top, top + here, kNothing);
        std::fill(second, second + here, kNothing);
        std::fill(sum, sum + here, 0.0);
        std::fill(weighted, weighted + here, 0.0);
        for (int64_t k = 0; k < n_states; ++k)
            on_isa<take_top>(top, second, log_states.data() + k * log_states.stride(0) + first, log_prior.data()[k],
                             here);
        for (int64_t k = 0; k < n_states && kind != kLogLead; ++k) {
            const double* log_state = log_states.data() + k * log_states.stride(0) + first;
            if (kind == kEntropy)
                on_isa<add_weighted_shares>(sum, weighted, top, log_state, log_prior.data()[k], here);
            else
                on_isa<add_shares>(sum, top, log_state, log_prior.data()[k], here);
        }
        on_isa<finish>(score.data() + first, top, second, sum, weighted, here, kind);
        close_rows(score.data() + first, is_open.data() + first, here);
    }
}

}  // namespace

void bind_pool(nb::module_& m) {
    m.def("normal_column", &normal_column, nb::arg("log_likelihood").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("mean"), nb::arg("mean_low"), nb::arg("precision"), nb::arg("log_peak"),
          "log_likelihood = sum over present cells of log Normal(x; mean + mean_low, 1 / precision), for one state");
    m.def(
        "uncertainty", &uncertainty, nb::arg("score").noconvert(), nb::arg("log_states").noconvert(),
        nb::arg("log_prior"), nb::arg("is_open"), nb::arg("kind"),
        "score = entropy in bits (0), 1 - lead (1), 1 - largest (2) or minus the log odds of the first two (3) of each "
        "posterior; NaN where it is 0/0, and minus infinity where the row is not open");
    m.def("moments_of_rows", &moments_of_rows, nb::arg("moments").noconvert(), nb::arg("values"),
          "moments = count, mean, mean_low and stddev (divided by n) of the present cells of each column");
}

}  // namespace bayeswise::models
