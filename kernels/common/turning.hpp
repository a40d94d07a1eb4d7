// Rows turned into columns of a tile, a square of two or four rows and columns at a time.
#pragma once

#include <cstdint>

#include "common/registers.hpp"

namespace bayeswise {

// A register of cells of any type, as doubles.
template <int W, typename T>
BAYESWISE_INLINE typename Register<double, W>::type load_doubles(const T* from) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return load<double, W>(from);
    } else {
        double cells[Register<double, W>::lanes];
        for (int64_t k = 0; k < Register<double, W>::lanes; ++k) cells[k] = static_cast<double>(from[k]);
        return load<double, W>(cells);
    }
}

#ifdef BAYESWISE_SHUFFLES
// The rows of a square become its columns, which stand `step` apart.
template <int W>
BAYESWISE_INLINE void store_turned(double* to, int64_t step, const typename Register<double, W>::type* row) {
    using Part = typename Register<double, W>::type;
    if constexpr (W == 16) {
        store<double, W>(to, __builtin_shufflevector(row[0], row[1], 0, 2));
        store<double, W>(to + step, __builtin_shufflevector(row[0], row[1], 1, 3));
    } else {
        const Part even0 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
        const Part odd0 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
        const Part even1 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
        const Part odd1 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
        store<double, W>(to, __builtin_shufflevector(even0, even1, 0, 1, 4, 5));
        store<double, W>(to + step, __builtin_shufflevector(odd0, odd1, 0, 1, 4, 5));
        store<double, W>(to + 2 * step, __builtin_shufflevector(even0, even1, 2, 3, 6, 7));
        store<double, W>(to + 3 * step, __builtin_shufflevector(odd0, odd1, 2, 3, 6, 7));
    }
}
#endif

// columns[c * tile_rows + r] = from[r * row_step + c * column_step]; true if a cell is NaN, or perhaps if one is infinite.
template <typename T, int W>
BAYESWISE_INLINE bool turn_in_squares(double* __restrict columns, const T* __restrict from, int64_t row_step,
                                      int64_t column_step, int64_t n_rows, int64_t n_columns, int64_t tile_rows) {
    int64_t rows_done = 0, columns_done = 0;
    bool has_missing = false;
#ifdef BAYESWISE_SHUFFLES
    if (column_step == 1) {
        constexpr int64_t kSide = Register<double, W>::lanes;
        typename Register<double, W>::type sum = {};  // of zeros, unless a cell is NaN or infinite
        rows_done = n_rows / kSide * kSide;
        columns_done = n_columns / kSide * kSide;
        for (int64_t r = 0; r < rows_done; r += kSide)
            for (int64_t c = 0; c < columns_done; c += kSide) {
                typename Register<double, W>::type row[kSide];
                for (int64_t k = 0; k < kSide; ++k) {
                    row[k] = load_doubles<W>(from + (r + k) * row_step + c);
                    sum = sum + row[k] * 0.0;
                }
                store_turned<W>(columns + c * tile_rows + r, tile_rows, row);
            }
        for (int64_t k = 0; k < kSide; ++k) has_missing |= sum[k] != 0.0;
    }
#endif
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t c = r < rows_done ? columns_done : 0; c < n_columns; ++c) {
            const double x = static_cast<double>(from[r * row_step + c * column_step]);
            has_missing |= x != x;
            columns[c * tile_rows + r] = x;
        }
    return has_missing;
}
template <typename T>
constexpr auto turn_rows =
    on_isa<turn_in_squares<T, kPlainBytes>, turn_in_squares<T, kAvx2Bytes>, turn_in_squares<T, kAvx2Bytes>>;

}  // namespace bayeswise
