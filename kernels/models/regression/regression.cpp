// One sweep of a block of rows for regression: the logistic loss with both derivatives, and products of columns.
#include <algorithm>
#include <cmath>

#include "common/exponential.hpp"
#include "models/regression/tiles.hpp"

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

// log(1 + x) for x in [0, 1], as exact for a small x: of 1 + x, or of its half and log 2, 2 atanh((m - 1) / (m + 1)).
BAYESWISE_INLINE double log_one_plus(double x) {
    const bool halved = x > 0.41421356237309503;
    const double u = (halved ? x - 1.0 : x) / (halved ? x + 3.0 : x + 2.0), u2 = u * u, u4 = u2 * u2, u8 = u4 * u4;
    const double low = (1.0 / 3.0 + u2 * (1.0 / 5.0)) + u4 * (1.0 / 7.0 + u2 * (1.0 / 9.0));
    const double high = (1.0 / 11.0 + u2 * (1.0 / 13.0)) + u4 * (1.0 / 15.0 + u2 * (1.0 / 17.0));
    const double series = low + u8 * (high + u8 * (1.0 / 19.0 + u2 * (1.0 / 21.0)));
    return (halved ? 0.6931471805599453 : 0.0) + 2.0 * (u + u * (u2 * series));
}

// For the rows of a tile log(1 + e^score) - target score, without overflow, and its two derivatives by the score, all of
// them times the weight of the row.
BAYESWISE_INLINE void logistic_losses(double* __restrict loss, double* __restrict first, double* __restrict second,
                                      const double* __restrict scores, const double* __restrict targets,
                                      const double* __restrict by) {
    for (int64_t r = 0; r < kTileRows; ++r) {
        const double score = scores[r], target = targets[r], away = score < 0.0 ? score : -score;
        const double small = exponential(away > -708.0 ? away : -708.0), total = 1.0 + small;
        const double likely = 1.0 / total, unlikely = small / total;
        // 1 - p from the other class where that is the true one, so that no digits are lost near 1.
        const double yes = score >= 0.0 ? likely : unlikely, no = score >= 0.0 ? unlikely : likely;
        first[r] = by[r] * (target == 1.0 ? -no : yes);
        second[r] = by[r] * (likely * unlikely);
        loss[r] = by[r] * ((log_one_plus(small) + (score > 0.0 ? score : 0.0)) - target * score);
    }
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
    const AlignedVector<double> wide = padded_weights<double>(weights.data(), 1, n, tiles.n_padded);
    AlignedVector<double> scores(kTileRows), first(kTileRows), second(kTileRows);
    AlignedVector<double> by(kTileRows), target(kTileRows), losses(kTileRows);
    AlignedVector<double> scaled(tiles.n_padded * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile<double>(scores.data(), wide.data(), tiles.rows.data(), 1, tiles.n_padded);
        for (int64_t r = 0; r < kTileRows; ++r) {
            by[r] = r >= here ? 0.0 : weighted ? row_weights.data()[begin + r] : 1.0;
            target[r] = r < here ? targets.data()[begin + r] : 0.0;
        }
        on_isa<logistic_losses>(losses.data(), first.data(), second.data(), scores.data(), target.data(), by.data());
        double tile_loss = 0.0;
        for (int64_t r = 0; r < here; ++r) tile_loss += losses[r];
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
    AlignedVector<double> scaled(tiles.n_padded * kTileRows), by(kTileRows);
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
