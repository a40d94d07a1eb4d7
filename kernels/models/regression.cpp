// One sweep of a block of rows for regression: the logistic loss with both derivatives, and products of columns.
#include <algorithm>
#include <cmath>

#include "models/tiles.hpp"

namespace bayeswise::models {

namespace {

// sums[j] += sum over rows of left[r] rows[r][j].
template <int W>
BAYESWISE_INLINE void add_weighted(double* __restrict sums, const double* __restrict left,
                                   const double* __restrict rows, int64_t n_padded) {
    using Cells = typename Register<double, W>::type;
    for (int64_t j = 0; j < n_padded; j += Register<double, W>::lanes) {
        Cells even = {}, odd = {};
        const double* x = rows + j;
        for (int64_t r = 0; r < kTileRows; r += 2, x += 2 * n_padded) {
            even = even + left[r] * load<double, W>(x);
            odd = odd + left[r + 1] * load<double, W>(x + n_padded);
        }
        store<double, W>(sums + j, load<double, W>(sums + j) + (even + odd));
    }
}

// scaled[r][j] = by[r] rows[r][j].
BAYESWISE_INLINE void scale_rows(double* __restrict scaled, const double* __restrict rows, const double* __restrict by,
                                 int64_t n_padded) {
    for (int64_t r = 0; r < kTileRows; ++r)
        for (int64_t j = 0; j < n_padded; ++j) scaled[r * n_padded + j] = by[r] * rows[r * n_padded + j];
}

void copy_symmetric(const Sums<>& sums, double* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j) out[i * n + j] = out[j * n + i] = sums(i, j);
}

// log(1 + e^score) - target score, without overflow, and its two derivatives by the score.
inline double logistic_loss(double score, double target, double& first, double& second) {
    const double small = std::exp(-std::fabs(score));
    const double likely = 1.0 / (1.0 + small), unlikely = small / (1.0 + small);
    first = (score >= 0.0 ? likely : unlikely) - target;
    if (target == 1.0) first = -(score >= 0.0 ? unlikely : likely);
    second = likely * unlikely;
    return std::log1p(small) + std::max(score, 0.0) - target * score;
}

template <typename T>
double logistic_pass(Cells<T> values, Vector centre, Vector inverse, Vector weights, Codes targets, Vector row_weights,
                     OutVector gradient, Out hessian) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns;
    require(static_cast<int64_t>(weights.shape(0)) == n && static_cast<int64_t>(gradient.shape(0)) == n &&
                static_cast<int64_t>(hessian.shape(0)) == n && static_cast<int64_t>(hessian.shape(1)) == n,
            "weights and derivatives need one entry for each column and one for the intercept");
    require(static_cast<int64_t>(targets.shape(0)) == tiles.n_rows, "targets and values differ in rows");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums<> slopes(1, tiles.n_padded), curves(n, tiles.n_padded);
    const std::vector<double> wide = padded_weights<double>(weights.data(), 1, n, tiles.n_padded);
    std::vector<double> scores(kTileRows), first(kTileRows), second(kTileRows);
    std::vector<double> scaled(tiles.n_padded * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile<double>(scores.data(), wide.data(), tiles.rows.data(), 1, tiles.n_padded);
        std::fill(first.begin(), first.end(), 0.0);
        std::fill(second.begin(), second.end(), 0.0);
        double tile_loss = 0.0;
        for (int64_t r = 0; r < here; ++r) {
            const double by = weighted ? row_weights.data()[begin + r] : 1.0;
            if (by == 0.0) continue;
            tile_loss += by * logistic_loss(scores[r], targets.data()[begin + r], first[r], second[r]);
            first[r] *= by;
            second[r] *= by;
        }
        loss += tile_loss;
        on_isa<add_weighted<kPlainBytes>, add_weighted<kAvx2Bytes>, add_weighted<kAvx512Bytes>>(
            slopes.data(), first.data(), tiles.rows.data(), tiles.n_padded);
        on_isa<scale_rows>(scaled.data(), tiles.rows.data(), second.data(), tiles.n_padded);
        curves.add(scaled.data(), n, tiles.n_padded, tiles.rows.data(), true);
    }
    copy_out(slopes, gradient.data(), 1, n);
    copy_symmetric(curves, hessian.data(), n);
    return loss;
}

template <typename T>
void weighted_products(Cells<T> values, Vector centre, Vector inverse, Vector row_weights, Out products) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns;
    require(static_cast<int64_t>(products.shape(0)) == n && static_cast<int64_t>(products.shape(1)) == n,
            "products need one entry for each column and one for the intercept");
    require(static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums<> sums(n, tiles.n_padded);
    std::vector<double> scaled(tiles.n_padded * kTileRows), by(kTileRows);
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        std::fill(by.begin(), by.end(), 0.0);
        std::copy(row_weights.data() + begin, row_weights.data() + begin + here, by.begin());
        on_isa<scale_rows>(scaled.data(), tiles.rows.data(), by.data(), tiles.n_padded);
        sums.add(scaled.data(), n, tiles.n_padded, tiles.rows.data(), true);
    }
    copy_symmetric(sums, products.data(), n);
}

// slope[i] -= row[i] change.
BAYESWISE_INLINE void move_slope(double* __restrict slope, const double* __restrict row, double change, int64_t n) {
    for (int64_t i = 0; i < n; ++i) slope[i] -= row[i] * change;
}

// Rounds over all coordinates of v' M v / 2 - m . v + penalty . |v|, each set to its best with the others as they are;
// slope is m - M v. Rounds end early where no weight moves by more than 1e-9 of the largest.
double coordinate_rounds(Matrix matrix, Vector penalty, OutVector weights, OutVector slope, int64_t rounds) {
    const int64_t n = static_cast<int64_t>(matrix.shape(0));
    require(static_cast<int64_t>(matrix.shape(1)) == n && static_cast<int64_t>(penalty.shape(0)) == n &&
                static_cast<int64_t>(weights.shape(0)) == n && static_cast<int64_t>(slope.shape(0)) == n,
            "matrix, penalty, weights and slope differ in columns");
    nb::gil_scoped_release release;
    double* v = weights.data();
    double* s = slope.data();
    double moved = 0.0;
    for (int64_t round = 0; round < rounds; ++round) {
        moved = 0.0;
        double largest = 1e-300;
        for (int64_t j = 0; j < n; ++j) {
            const double* row = matrix.data() + j * n;
            const double curve = row[j];
            if (!(curve > 0.0)) continue;
            const double target = s[j] + curve * v[j];
            const double left = std::max(std::abs(target) - penalty.data()[j], 0.0);
            const double found = std::copysign(left, target) / curve;
            const double change = found - v[j];
            if (change != 0.0) {
                on_isa<move_slope>(s, row, change, n);
                v[j] = found;
                moved = std::max(moved, std::abs(change));
            }
            largest = std::max(largest, std::abs(v[j]));
        }
        moved /= largest;
        if (moved <= 1e-9) break;
    }
    return moved;
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("logistic_pass", &logistic_pass<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("weights"), nb::arg("targets"), nb::arg("row_weights"),
          nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert(),
          "The logistic loss of rows, with its gradient and Hessian; targets are 0 or 1, the intercept comes last");
    m.def("weighted_products", &weighted_products<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("row_weights"), nb::arg("products").noconvert(),
          "The sum over rows of w z z', where z ends in a one");
}

}  // namespace

void bind_regression(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
    m.def("coordinate_rounds", &coordinate_rounds, nb::arg("matrix").noconvert(), nb::arg("penalty"),
          nb::arg("weights").noconvert(), nb::arg("slope").noconvert(), nb::arg("rounds"),
          "Rounds of coordinate descent for penalised squares; the largest change of the last one, as a share");
}

}  // namespace bayeswise::models
