// Rows for regression in tiles of 32: centred, scaled, padded to whole registers, a last column of ones the intercept.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/aligned.hpp"
#include "common/require.hpp"
#include "models/regression/lanes.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <typename T, typename C>
BAYESWISE_INLINE void standardised(C* __restrict to, const T* __restrict row, const double* __restrict centre,
                                   const double* __restrict inverse, int64_t n) {
    for (int64_t c = 0; c < n; ++c) to[c] = static_cast<C>((static_cast<double>(row[c]) - centre[c]) * inverse[c]);
}

// Weights with the zeros that the columns have.
template <typename C>
AlignedVector<C> padded_weights(const double* weights, int64_t n_vectors, int64_t n_columns, int64_t n_padded) {
    AlignedVector<C> wide(n_vectors * n_padded);
    for (int64_t k = 0; k < n_vectors; ++k)
        for (int64_t j = 0; j < n_columns; ++j) wide[k * n_padded + j] = static_cast<C>(weights[k * n_columns + j]);
    return wide;
}

// z = (x - centre) inverse_scale, then a one; rows beyond the last are zero. Cells of type T, computed with in type C.
template <typename T, typename C = double>
class Tiles {
public:
    Tiles(const Cells<T>& values, const Vector& centre, const Vector& inverse)
        : values_(values), centre_(centre.data()), inverse_(inverse.data()), n_rows(values.shape(0)),
          n_columns(values.shape(1) + 1), n_padded(padded<C>(n_columns)), rows(kTileRows * n_padded) {
        require(centre.shape(0) == values.shape(1) && inverse.shape(0) == values.shape(1),
                "centre, scale and values differ in columns");
    }

    int64_t fill(int64_t first) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        const int64_t row_step = values_.stride(0), column_step = values_.stride(1);
        if (here < kTileRows) std::fill(rows.begin(), rows.end(), C(0));
        for (int64_t r = 0; r < here; ++r) {
            const T* row = values_.data() + (first + r) * row_step;
            C* to = rows.data() + r * n_padded;
            if (column_step == 1) {
                on_isa<standardised<T, C>>(to, row, centre_, inverse_, n_columns - 1);
            } else {
                for (int64_t c = 0; c + 1 < n_columns; ++c)
                    to[c] = static_cast<C>((static_cast<double>(row[c * column_step]) - centre_[c]) * inverse_[c]);
            }
            to[n_columns - 1] = C(1);
        }
        return here;
    }

private:
    const Cells<T>& values_;
    const double* centre_;
    const double* inverse_;

public:
    const int64_t n_rows, n_columns, n_padded;
    AlignedVector<C> rows;  // (kTileRows, n_padded)
};

// Sums of products with the tiles, (n_left, n_columns), padded inside.
template <typename C = double>
class Sums {
public:
    Sums(int64_t n_left, int64_t n_padded) : n_padded_(n_padded), sums_(padded<C>(n_left) * n_padded) {}

    // `left` is (kTileRows, left_step).
    void add(const C* left, int64_t n_left, int64_t left_step, const C* rows, bool triangle) {
        add_products<C>(sums_.data(), left, n_left, left_step, rows, n_padded_, triangle);
    }

    C* data() { return sums_.data(); }

    double operator()(int64_t i, int64_t j) const { return sums_[i * n_padded_ + j]; }

private:
    int64_t n_padded_;
    AlignedVector<C> sums_;
};

template <typename C>
void copy_out(const Sums<C>& sums, double* out, int64_t n_left, int64_t n_columns) {
    for (int64_t i = 0; i < n_left; ++i)
        for (int64_t j = 0; j < n_columns; ++j) out[i * n_columns + j] = sums(i, j);
}

}  // namespace bayeswise::models
