// One sweep of a block of rows for regression: scores, losses, gradients, and products of columns weighted by row.
//
// Rows are centred, scaled and laid out in tiles of 64, once row by row and once turned; a last column of ones is the
// intercept. Scores multiply the turned tile, so that a register holds eight rows; sums over rows multiply the other
// one, so that it holds eight columns. Both keep eight sums in registers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BAYESWISE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BAYESWISE_CLONES
#endif

namespace nb = nanobind;

namespace {

constexpr int64_t kLane = 8;
constexpr int64_t kTileRows = 64;

#if defined(__GNUC__)
typedef double Lane __attribute__((vector_size(64), aligned(8), may_alias));
#else
struct Lane {
    double v[kLane];
    friend Lane operator+(Lane a, const Lane& b) { for (int k = 0; k < kLane; ++k) a.v[k] += b.v[k]; return a; }
    friend Lane operator*(double b, Lane a) { for (int k = 0; k < kLane; ++k) a.v[k] *= b; return a; }
};
#endif

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(what);
}

int64_t padded(int64_t n) { return (n + kLane - 1) / kLane * kLane; }

inline Lane load(const double* from) { return *reinterpret_cast<const Lane*>(from); }
inline void store(double* to, const Lane& lane) { *reinterpret_cast<Lane*>(to) = lane; }

// scores[k][r] = sum over j of weights[k][j] turned[j][r], for one k and all rows of a tile.
BAYESWISE_CLONES
void score_tile(double* __restrict scores, const double* __restrict weights, const double* __restrict turned,
                int64_t n_columns) {
    Lane a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {};
    for (int64_t j = 0; j < n_columns; ++j) {
        const double w = weights[j];
        const double* x = turned + j * kTileRows;
        a = a + w * load(x);
        b = b + w * load(x + 8);
        c = c + w * load(x + 16);
        d = d + w * load(x + 24);
        e = e + w * load(x + 32);
        f = f + w * load(x + 40);
        g = g + w * load(x + 48);
        h = h + w * load(x + 56);
    }
    store(scores, a);
    store(scores + 8, b);
    store(scores + 16, c);
    store(scores + 24, d);
    store(scores + 32, e);
    store(scores + 40, f);
    store(scores + 48, g);
    store(scores + 56, h);
}

// sums[i][j] += sum over rows of left[i][r] rows[r][j], for eight i; columns before `from` are left out.
BAYESWISE_CLONES
void add_products(double* __restrict sums, const double* __restrict left, const double* __restrict rows,
                  int64_t n_padded, int64_t from) {
    for (int64_t j = from; j < n_padded; j += kLane) {
        Lane a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {};
        const double* l = left;
        const double* x = rows + j;
        for (int64_t r = 0; r < kTileRows; ++r, x += n_padded, ++l) {
            const Lane z = load(x);
            a = a + l[0] * z;
            b = b + l[kTileRows] * z;
            c = c + l[2 * kTileRows] * z;
            d = d + l[3 * kTileRows] * z;
            e = e + l[4 * kTileRows] * z;
            f = f + l[5 * kTileRows] * z;
            g = g + l[6 * kTileRows] * z;
            h = h + l[7 * kTileRows] * z;
        }
        double* to = sums + j;
        store(to, load(to) + a);
        store(to + n_padded, load(to + n_padded) + b);
        store(to + 2 * n_padded, load(to + 2 * n_padded) + c);
        store(to + 3 * n_padded, load(to + 3 * n_padded) + d);
        store(to + 4 * n_padded, load(to + 4 * n_padded) + e);
        store(to + 5 * n_padded, load(to + 5 * n_padded) + f);
        store(to + 6 * n_padded, load(to + 6 * n_padded) + g);
        store(to + 7 * n_padded, load(to + 7 * n_padded) + h);
    }
}

// scaled[j][r] = by[r] turned[j][r].
BAYESWISE_CLONES
void scale_rows(double* __restrict scaled, const double* __restrict turned, const double* __restrict by,
                int64_t n_columns) {
    for (int64_t j = 0; j < n_columns; ++j)
        for (int64_t r = 0; r < kTileRows; ++r) scaled[j * kTileRows + r] = by[r] * turned[j * kTileRows + r];
}

// The rows of a block as tiles: z = (x - centre) inverse_scale, then a one; rows beyond the last are zero.
template <typename T>
class Tiles {
  public:
    Tiles(const Cells<T>& values, const Vector& centre, const Vector& inverse)
        : values_(values), centre_(centre.data()), inverse_(inverse.data()),
          n_rows(values.shape(0)), n_columns(values.shape(1) + 1), n_padded(padded(n_columns)),
          rows(kTileRows * n_padded), turned(kTileRows * n_padded) {
        require(centre.shape(0) == values.shape(1) && inverse.shape(0) == values.shape(1),
                "centre, scale and values differ in columns");
    }

    int64_t fill(int64_t first) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        const int64_t row_step = values_.stride(0), column_step = values_.stride(1);
        if (here < kTileRows) {
            std::fill(rows.begin(), rows.end(), 0.0);
            std::fill(turned.begin(), turned.end(), 0.0);
        }
        for (int64_t r = 0; r < here; ++r) {
            const T* row = values_.data() + (first + r) * row_step;
            double* to = rows.data() + r * n_padded;
            for (int64_t c = 0; c + 1 < n_columns; ++c)
                to[c] = (static_cast<double>(row[c * column_step]) - centre_[c]) * inverse_[c];
            to[n_columns - 1] = 1.0;
        }
        for (int64_t r = 0; r < here; ++r)
            for (int64_t c = 0; c < n_columns; ++c) turned[c * kTileRows + r] = rows[r * n_padded + c];
        return here;
    }

  private:
    const Cells<T>& values_;
    const double* centre_;
    const double* inverse_;

  public:
    const int64_t n_rows, n_columns, n_padded;
    std::vector<double> rows;    // (kTileRows, n_padded)
    std::vector<double> turned;  // (n_padded, kTileRows)
};

// Sums of products with the tiles, (n_left, n_columns), padded inside.
class Sums {
  public:
    Sums(int64_t n_left, int64_t n_padded) : n_padded_(n_padded), sums_(padded(n_left) * n_padded) {}

    void add(const double* left, int64_t n_left, const double* rows, bool triangle) {
        for (int64_t i = 0; i < n_left; i += kLane)
            add_products(sums_.data() + i * n_padded_, left + i * kTileRows, rows, n_padded_, triangle ? i : 0);
    }

    double operator()(int64_t i, int64_t j) const { return sums_[i * n_padded_ + j]; }

  private:
    int64_t n_padded_;
    std::vector<double> sums_;
};

void copy_out(const Sums& sums, double* out, int64_t n_left, int64_t n_columns) {
    for (int64_t i = 0; i < n_left; ++i)
        for (int64_t j = 0; j < n_columns; ++j) out[i * n_columns + j] = sums(i, j);
}

void copy_symmetric(const Sums& sums, double* out, int64_t n) {
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
    Sums slopes(1, tiles.n_padded), curves(n, tiles.n_padded);
    std::vector<double> scores(kTileRows), first(kLane * kTileRows), second(kTileRows);
    std::vector<double> scaled(tiles.n_padded * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile(scores.data(), weights.data(), tiles.turned.data(), n);
        std::fill(first.begin(), first.begin() + kTileRows, 0.0);
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
        slopes.add(first.data(), 1, tiles.rows.data(), false);
        scale_rows(scaled.data(), tiles.turned.data(), second.data(), n);
        curves.add(scaled.data(), n, tiles.rows.data(), true);
    }
    copy_out(slopes, gradient.data(), 1, n);
    copy_symmetric(curves, hessian.data(), n);
    return loss;
}

// One tile of softmax: the scores become probabilities less one at the true class, times the weight of the row.
double softmax_tile(std::vector<double>& scores, int64_t n_classes, int64_t here, const int32_t* targets,
                    const double* row_weights, double* probabilities) {
    double loss = 0.0;
    for (int64_t r = 0; r < kTileRows; ++r) {
        double* s = scores.data() + r;
        const double by = r >= here ? 0.0 : (row_weights ? row_weights[r] : 1.0);
        if (r >= here) {
            for (int64_t k = 0; k < n_classes; ++k) s[k * kTileRows] = 0.0;
            continue;
        }
        double top = s[0];
        for (int64_t k = 1; k < n_classes; ++k) top = std::max(top, s[k * kTileRows]);
        const double at_target = s[targets[r] * kTileRows] - top;
        double total = 0.0, others = 0.0;
        for (int64_t k = 0; k < n_classes; ++k) {
            double& entry = s[k * kTileRows];
            entry = std::exp(entry - top);
            total += entry;
            if (k != targets[r]) others += entry;
        }
        if (by != 0.0) loss += by * (std::log(total) - at_target);
        for (int64_t k = 0; k < n_classes; ++k) {
            double& entry = s[k * kTileRows];
            if (probabilities) probabilities[r * n_classes + k] = entry / total;
            // 1 - p of the true class from the others, so that no digits are lost near 1.
            entry = by * (k == targets[r] ? -others : entry) / total;
        }
    }
    return loss;
}

template <typename T>
double softmax_pass(Cells<T> values, Vector centre, Vector inverse, Matrix weights, Codes targets, Vector row_weights,
                    Out gradient, Out probabilities) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns, n_classes = weights.shape(0);
    require(static_cast<int64_t>(weights.shape(1)) == n && static_cast<int64_t>(gradient.shape(1)) == n &&
            static_cast<int64_t>(gradient.shape(0)) == n_classes, "weights and gradient differ in shape");
    require(static_cast<int64_t>(targets.shape(0)) == tiles.n_rows, "targets and values differ in rows");
    require(static_cast<int64_t>(probabilities.shape(0)) == tiles.n_rows &&
            static_cast<int64_t>(probabilities.shape(1)) == n_classes, "the probabilities have another shape");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    for (int64_t r = 0; r < tiles.n_rows; ++r)
        require(targets.data()[r] >= 0 && targets.data()[r] < n_classes, "a target is no class");
    nb::gil_scoped_release release;
    Sums slopes(n_classes, tiles.n_padded);
    std::vector<double> scores(padded(n_classes) * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        for (int64_t k = 0; k < n_classes; ++k)
            score_tile(scores.data() + k * kTileRows, weights.data() + k * n, tiles.turned.data(), n);
        loss += softmax_tile(scores, n_classes, here, targets.data() + begin,
                             weighted ? row_weights.data() + begin : nullptr,
                             probabilities.data() + begin * n_classes);
        slopes.add(scores.data(), n_classes, tiles.rows.data(), false);
    }
    copy_out(slopes, gradient.data(), n_classes, n);
    return loss;
}

// The second derivative of the softmax loss along a direction: sum of w (p u - p (p . u)) z' with u = direction z.
template <typename T>
void softmax_along(Cells<T> values, Vector centre, Vector inverse, Matrix direction, Matrix probabilities,
                   Vector row_weights, Out product) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns, n_classes = direction.shape(0);
    require(static_cast<int64_t>(direction.shape(1)) == n && static_cast<int64_t>(product.shape(1)) == n &&
            static_cast<int64_t>(product.shape(0)) == n_classes, "direction and product differ in shape");
    require(static_cast<int64_t>(probabilities.shape(0)) == tiles.n_rows &&
            static_cast<int64_t>(probabilities.shape(1)) == n_classes, "the probabilities have another shape");
    const bool weighted = row_weights.shape(0) > 0;
    require(!weighted || static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums sums(n_classes, tiles.n_padded);
    std::vector<double> scores(padded(n_classes) * kTileRows);
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        for (int64_t k = 0; k < n_classes; ++k)
            score_tile(scores.data() + k * kTileRows, direction.data() + k * n, tiles.turned.data(), n);
        for (int64_t r = 0; r < here; ++r) {
            const double* p = probabilities.data() + (begin + r) * n_classes;
            const double by = weighted ? row_weights.data()[begin + r] : 1.0;
            double mean = 0.0;
            for (int64_t k = 0; k < n_classes; ++k) mean += p[k] * scores[k * kTileRows + r];
            for (int64_t k = 0; k < n_classes; ++k) {
                double& entry = scores[k * kTileRows + r];
                entry = by * p[k] * (entry - mean);
            }
        }
        sums.add(scores.data(), n_classes, tiles.rows.data(), false);
    }
    copy_out(sums, product.data(), n_classes, n);
}

template <typename T>
void weighted_products(Cells<T> values, Vector centre, Vector inverse, Vector row_weights, Out products) {
    Tiles<T> tiles(values, centre, inverse);
    const int64_t n = tiles.n_columns;
    require(static_cast<int64_t>(products.shape(0)) == n && static_cast<int64_t>(products.shape(1)) == n,
            "products need one entry for each column and one for the intercept");
    require(static_cast<int64_t>(row_weights.shape(0)) == tiles.n_rows, "row weights differ in rows");
    nb::gil_scoped_release release;
    Sums sums(n, tiles.n_padded);
    std::vector<double> scaled(tiles.n_padded * kTileRows), by(kTileRows);
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        std::fill(by.begin(), by.end(), 0.0);
        std::copy(row_weights.data() + begin, row_weights.data() + begin + here, by.begin());
        scale_rows(scaled.data(), tiles.turned.data(), by.data(), n);
        sums.add(scaled.data(), n, tiles.rows.data(), true);
    }
    copy_symmetric(sums, products.data(), n);
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("logistic_pass", &logistic_pass<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("weights"), nb::arg("targets"), nb::arg("row_weights"),
          nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert(),
          "The logistic loss of rows, with its gradient and Hessian; targets are 0 or 1, the intercept comes last");
    m.def("softmax_pass", &softmax_pass<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("weights"), nb::arg("targets"), nb::arg("row_weights"),
          nb::arg("gradient").noconvert(), nb::arg("probabilities").noconvert(),
          "The softmax loss of rows, with its gradient and the probabilities of the classes");
    m.def("softmax_along", &softmax_along<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("direction"), nb::arg("probabilities"), nb::arg("row_weights"),
          nb::arg("product").noconvert(), "The Hessian of the softmax loss times a direction");
    m.def("weighted_products", &weighted_products<T>, nb::arg("values").noconvert(), nb::arg("centre"),
          nb::arg("inverse_scale"), nb::arg("row_weights"), nb::arg("products").noconvert(),
          "The sum over rows of w z z', where z ends in a one");
}

}  // namespace

void bind_regression(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
}
