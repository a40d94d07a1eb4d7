// The least and the largest number of each column, and how many there are.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::tables {

namespace {

using Cells = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// NaN is on neither side of anything, and not equal to itself: it changes nothing.
BAYESWISE_INLINE void widen_by(double x, double& low, double& high, int64_t& present) {
    low = x < low ? x : low;
    high = x > high ? x : high;
    present += x == x;
}

BAYESWISE_INLINE void widen_by_rows(double* __restrict low, double* __restrict high, int64_t* __restrict present,
                                    const double* __restrict cells, int64_t row_step, int64_t n_rows,
                                    int64_t n_columns) {
    for (int64_t r = 0; r < n_rows; ++r, cells += row_step)
        for (int64_t c = 0; c < n_columns; ++c) widen_by(cells[c], low[c], high[c], present[c]);
}

// The cells of a column that stand side by side: as many columns, which are put together at the end.
BAYESWISE_INLINE void widen_by_column(double* __restrict low, double* __restrict high, int64_t* __restrict present,
                                      const double* __restrict cells, int64_t n_rows) {
    constexpr int64_t kAbreast = 64;  // more than compilers unroll instead of using registers
    double lows[kAbreast], highs[kAbreast];
    int64_t counts[kAbreast] = {};
    std::fill_n(lows, kAbreast, *low);
    std::fill_n(highs, kAbreast, *high);
    widen_by_rows(lows, highs, counts, cells, kAbreast, n_rows / kAbreast, kAbreast);
    for (int64_t k = 0; k < kAbreast; ++k) {
        *low = lows[k] < *low ? lows[k] : *low;
        *high = highs[k] > *high ? highs[k] : *high;
        *present += counts[k];
    }
    for (int64_t r = n_rows / kAbreast * kAbreast; r < n_rows; ++r) widen_by(cells[r], *low, *high, *present);
}

// low, high and present take in the cells of each column; NaN is missing.
void widen_extremes(Cells values, Vector<double> low, Vector<double> high, Vector<int64_t> present) {
    const int64_t n_rows = values.shape(0), n_columns = values.shape(1);
    for (const std::size_t size : {low.shape(0), high.shape(0), present.shape(0)})
        require(static_cast<int64_t>(size) == n_columns, "extremes differ in columns");
    const double* cells = values.data();
    const int64_t row_step = values.stride(0), column_step = values.stride(1);
    double *lows = low.data(), *highs = high.data();
    int64_t* counts = present.data();
    const nb::gil_scoped_release release;
    if (column_step == 1) {
        on_isa<widen_by_rows>(lows, highs, counts, cells, row_step, n_rows, n_columns);
        return;
    }
    for (int64_t c = 0; c < n_columns; ++c) {
        if (row_step == 1) {
            on_isa<widen_by_column>(lows + c, highs + c, counts + c, cells + c * column_step, n_rows);
            continue;
        }
        for (int64_t r = 0; r < n_rows; ++r)
            widen_by(cells[r * row_step + c * column_step], lows[c], highs[c], counts[c]);
    }
}

}  // namespace

void bind_extremes(nb::module_& m) {
    m.def("widen_extremes", &widen_extremes, "values"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
          "present"_a.noconvert(), "Take in the least, the largest and the number of cells of each column.");
}

}  // namespace bayeswise::tables
