// The loss of a softmax regression over a block of rows, its gradient, and its Hessian times a direction.
#include <cmath>

#include "common/exponential.hpp"
#include "models/regression/tiles.hpp"

namespace bayeswise::models {

namespace {

BAYESWISE_INLINE void exponentials(double* __restrict values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) values[i] = exponential(std::max(values[i], -708.0));
}

// One tile of softmax: the scores (kTileRows, n_classes) become probabilities less one at the true class, times the
// weight of the row, in `slopes` (kTileRows, step); rows beyond the last become zero.
double softmax_tile(const double* scores, double* slopes, int64_t n_classes, int64_t step, int64_t here,
                    const int32_t* targets, const double* row_weights, double* probabilities) {
    double tops[kTileRows];
    for (int64_t r = 0; r < here; ++r) {
        const double* s = scores + r * n_classes;
        tops[r] = *std::max_element(s, s + n_classes);
        for (int64_t k = 0; k < n_classes; ++k) probabilities[r * n_classes + k] = s[k] - tops[r];
    }
    on_isa<exponentials>(probabilities, here * n_classes);
    double loss = 0.0;
    std::fill(slopes + here * step, slopes + kTileRows * step, 0.0);
    for (int64_t r = 0; r < here; ++r) {
        const double* s = scores + r * n_classes;
        double* to = slopes + r * step;
        double* p = probabilities + r * n_classes;
        const double by = row_weights ? row_weights[r] : 1.0;
        const int32_t target = targets[r];
        double others = 0.0;
        for (int64_t k = 0; k < target; ++k) others += p[k];
        for (int64_t k = target + 1; k < n_classes; ++k) others += p[k];
        const double total = others + p[target], inverse = 1.0 / total;
        if (by != 0.0) loss += by * (std::log(total) - (s[target] - tops[r]));
        for (int64_t k = 0; k < n_classes; ++k) to[k] = by * (p[k] *= inverse);
        // 1 - p of the true class from the others, so that no digits are lost near 1.
        to[target] = -by * others * inverse;
    }
    return loss;
}

template <typename T>
double softmax_pass(Cells<T> values, Vector centre, Vector inverse, Matrix weights, Codes targets, Vector row_weights,
                    Out gradient, Out probabilities) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns, n_classes = weights.shape(0);
    require(static_cast<int64_t>(weights.shape(1)) == n && static_cast<int64_t>(gradient.shape(1)) == n &&
                static_cast<int64_t>(gradient.shape(0)) == n_classes,
            "weights and gradient differ in shape");
    require(static_cast<int64_t>(targets.shape(0)) == tiles.n_rows, "targets and values differ in rows");
    require(static_cast<int64_t>(probabilities.shape(0)) == tiles.n_rows &&
                static_cast<int64_t>(probabilities.shape(1)) == n_classes,
            "the probabilities have another shape");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    for (int64_t r = 0; r < tiles.n_rows; ++r)
        require(targets.data()[r] >= 0 && targets.data()[r] < n_classes, "a target is not a class");
    nb::gil_scoped_release release;
    Sums<> slopes(n_classes, tiles.n_padded);
    const AlignedVector<double> wide = padded_weights<double>(weights.data(), n_classes, n, tiles.n_padded);
    const int64_t step = padded<double>(n_classes);
    AlignedVector<double> scores(n_classes * kTileRows), left(step * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile<double>(scores.data(), wide.data(), tiles.rows.data(), n_classes, tiles.n_padded);
        loss += softmax_tile(scores.data(), left.data(), n_classes, step, here, targets.data() + begin,
                             weighted ? row_weights.data() + begin : nullptr, probabilities.data() + begin * n_classes);
        slopes.add(left.data(), n_classes, step, tiles.rows.data(), false);
    }
    copy_out(slopes, gradient.data(), n_classes, n);
    return loss;
}

// left = w (p u - p (p . u)) for a tile of u = direction z.
template <typename C>
BAYESWISE_INLINE void bend_rows(C* __restrict left, const C* __restrict along, const double* __restrict probabilities,
                                const double* row_weights, int64_t n_classes, int64_t step, int64_t here) {
    std::fill(left + here * step, left + kTileRows * step, C(0));
    for (int64_t r = 0; r < here; ++r) {
        const double* p = probabilities + r * n_classes;
        const C* u = along + r * n_classes;
        const C by = static_cast<C>(row_weights ? row_weights[r] : 1.0);
        C mean = 0;
        for (int64_t k = 0; k < n_classes; ++k) mean += static_cast<C>(p[k]) * u[k];
        for (int64_t k = 0; k < n_classes; ++k) left[r * step + k] = by * static_cast<C>(p[k]) * (u[k] - mean);
    }
}

// The second derivative of the softmax loss along a direction: sum of w (p u - p (p . u)) z' with u = direction z.
// tile_at(row) has the tile of rows z that begins there, (kTileRows, n_padded).
template <typename C, typename TileAt>
void bend_tiles(const Matrix& direction, const Matrix& probabilities, const Vector& row_weights, const Out& product,
                int64_t n_padded, TileAt tile_at) {
    const int64_t n_rows = probabilities.shape(0), n_classes = direction.shape(0), n = direction.shape(1);
    require(product.shape(0) == direction.shape(0) && product.shape(1) == direction.shape(1),
            "direction and product differ in shape");
    require(static_cast<int64_t>(probabilities.shape(1)) == n_classes, "the probabilities have another shape");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums<C> sums(n_classes, n_padded);
    const AlignedVector<C> wide = padded_weights<C>(direction.data(), n_classes, n, n_padded);
    const int64_t step = padded<C>(n_classes);
    AlignedVector<C> along(n_classes * kTileRows), left(step * kTileRows);
    for (int64_t begin = 0; begin < n_rows; begin += kTileRows) {
        const C* rows = tile_at(begin);
        score_tile<C>(along.data(), wide.data(), rows, n_classes, n_padded);
        on_isa<bend_rows<C>>(left.data(), along.data(), probabilities.data() + begin * n_classes,
                             weighted ? row_weights.data() + begin : nullptr, n_classes, step,
                             std::min(kTileRows, n_rows - begin));
        sums.add(left.data(), n_classes, step, rows, false);
    }
    copy_out(sums, product.data(), n_classes, n);
}

template <typename T>
void softmax_along(Cells<T> values, Vector centre, Vector inverse, Matrix direction, Matrix probabilities,
                   Vector row_weights, Out product) {
    Tiles<T> tiles(values, centre, inverse);
    require(static_cast<int64_t>(direction.shape(1)) == tiles.n_columns, "direction and values differ in columns");
    require(static_cast<int64_t>(probabilities.shape(0)) == tiles.n_rows, "probabilities and values differ in rows");
    bend_tiles<double>(direction, probabilities, row_weights, product, tiles.n_padded, [&](int64_t begin) {
        tiles.fill(begin);
        return tiles.rows.data();
    });
}

// Rows z in single precision, made once for many products: whole tiles, (n_rows, n + 1) and zeros around them.
using Floats = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SomeFloats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

int64_t whole_tiles(int64_t n_rows) { return (n_rows + kTileRows - 1) / kTileRows * kTileRows; }

nb::tuple shape_of_tiles(int64_t n_rows, int64_t n_columns) {
    return nb::make_tuple(whole_tiles(n_rows), padded<float>(n_columns + 1));
}

template <typename T>
void fill_tiles(Cells<T> values, Vector centre, Vector inverse, Floats out) {
    Tiles<T, float> tiles(values, centre, inverse);
    require(static_cast<int64_t>(out.shape(0)) == whole_tiles(tiles.n_rows) &&
                static_cast<int64_t>(out.shape(1)) == tiles.n_padded,
            "the tiles have another shape");
    float* to = out.data();
    nb::gil_scoped_release release;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        tiles.fill(begin);
        to = std::copy(tiles.rows.begin(), tiles.rows.end(), to);
    }
}

void softmax_roughly_along(SomeFloats tiles, Matrix direction, Matrix probabilities, Vector row_weights, Out product) {
    const int64_t n_padded = tiles.shape(1);
    require(n_padded == padded<float>(direction.shape(1)), "direction and tiles differ in columns");
    require(static_cast<int64_t>(tiles.shape(0)) == whole_tiles(probabilities.shape(0)),
            "probabilities and tiles differ in rows");
    bend_tiles<float>(direction, probabilities, row_weights, product, n_padded,
                      [&](int64_t begin) { return tiles.data() + begin * n_padded; });
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("softmax_pass", &softmax_pass<T>, nb::arg("values").noconvert(), nb::arg("centre"), nb::arg("inverse_scale"),
          nb::arg("weights"), nb::arg("targets"), nb::arg("row_weights"), nb::arg("gradient").noconvert(),
          nb::arg("probabilities").noconvert(),
          "The softmax loss of rows, with its gradient and the probabilities of the classes");
    m.def("softmax_along", &softmax_along<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("direction"), nb::arg("probabilities"), nb::arg("row_weights"),
          nb::arg("product").noconvert(), "The Hessian of the softmax loss times a direction");
    m.def("fill_tiles", &fill_tiles<T>, nb::arg("values").noconvert(), nb::arg("centre"), nb::arg("inverse_scale"),
          nb::arg("tiles").noconvert(), "Standardised rows with a one at their end, in single precision");
}

}  // namespace

void bind_softmax(nb::module_& m) {
    m.def("shape_of_tiles", &shape_of_tiles, nb::arg("n_rows"), nb::arg("n_columns"), "The shape that tiles fill");
    m.def("softmax_roughly_along", &softmax_roughly_along, nb::arg("tiles").noconvert(), nb::arg("direction"),
          nb::arg("probabilities"), nb::arg("row_weights"), nb::arg("product").noconvert(),
          "The Hessian of the softmax loss times a direction, in single precision");
    bind_type<double>(m);
    bind_type<float>(m);
}

}  // namespace bayeswise::models
