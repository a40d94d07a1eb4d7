// The loss of a softmax regression over a block of rows, its gradient, and its Hessian times a direction.
#include <cmath>

#include "common/exponential.hpp"
#include "models/tiles.hpp"

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
    const std::vector<double> wide = padded_weights<double>(weights.data(), n_classes, n, tiles.n_padded);
    const int64_t step = padded<double>(n_classes);
    std::vector<double> scores(n_classes * kTileRows), left(step * kTileRows);
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
template <typename T, typename C>
void softmax_along(Cells<T> values, Vector centre, Vector inverse, Matrix direction, Matrix probabilities,
                   Vector row_weights, Out product) {
    Tiles<T, C> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns, n_classes = direction.shape(0);
    require(static_cast<int64_t>(direction.shape(1)) == n && static_cast<int64_t>(product.shape(1)) == n &&
                static_cast<int64_t>(product.shape(0)) == n_classes,
            "direction and product differ in shape");
    require(static_cast<int64_t>(probabilities.shape(0)) == tiles.n_rows &&
                static_cast<int64_t>(probabilities.shape(1)) == n_classes,
            "the probabilities have another shape");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums<C> sums(n_classes, tiles.n_padded);
    const std::vector<C> wide = padded_weights<C>(direction.data(), n_classes, n, tiles.n_padded);
    const int64_t step = padded<C>(n_classes);
    std::vector<C> along(n_classes * kTileRows), left(step * kTileRows);
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile<C>(along.data(), wide.data(), tiles.rows.data(), n_classes, tiles.n_padded);
        on_isa<bend_rows<C>>(left.data(), along.data(), probabilities.data() + begin * n_classes,
                             weighted ? row_weights.data() + begin : nullptr, n_classes, step, here);
        sums.add(left.data(), n_classes, step, tiles.rows.data(), false);
    }
    copy_out(sums, product.data(), n_classes, n);
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("softmax_pass", &softmax_pass<T>, nb::arg("values").noconvert(), nb::arg("centre"), nb::arg("inverse_scale"),
          nb::arg("weights"), nb::arg("targets"), nb::arg("row_weights"), nb::arg("gradient").noconvert(),
          nb::arg("probabilities").noconvert(),
          "The softmax loss of rows, with its gradient and the probabilities of the classes");
    m.def("softmax_along", &softmax_along<T, double>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("direction"), nb::arg("probabilities"), nb::arg("row_weights"),
          nb::arg("product").noconvert(), "The Hessian of the softmax loss times a direction");
    m.def("softmax_roughly_along", &softmax_along<T, float>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("direction"), nb::arg("probabilities"), nb::arg("row_weights"),
          nb::arg("product").noconvert(), "The same in single precision, about twice as fast");
}

}  // namespace

void bind_softmax(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
}

}  // namespace bayeswise::models
