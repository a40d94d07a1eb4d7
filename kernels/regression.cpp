// One sweep of a block of rows for regression: scores, losses, gradients, and products of columns weighted by row.
//
// Rows are centred, scaled and laid out in tiles of 32, padded to whole registers of eight columns; a last column of
// ones is the intercept. Eight sums at a time stay in registers: of eight rows for scores, of eight weights for sums.
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
constexpr int64_t kTileRows = 32;  // a tile of a hundred columns fits the first cache

#if defined(__GNUC__)
typedef double Lane __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t Order __attribute__((vector_size(64)));
#else
struct Lane {
    double v[kLane];
    friend Lane operator+(Lane a, const Lane& b) { for (int k = 0; k < kLane; ++k) a.v[k] += b.v[k]; return a; }
    friend Lane operator*(Lane a, const Lane& b) { for (int k = 0; k < kLane; ++k) a.v[k] *= b.v[k]; return a; }
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

// {sum of a, sum of b, ..., sum of h}.
#if defined(__GNUC__) && !defined(__clang__)
#define SUM_PAIRS(x, y, first, second) (__builtin_shuffle(x, y, first) + __builtin_shuffle(x, y, second))
__attribute__((always_inline)) inline Lane sums_of(Lane a, Lane b, Lane c, Lane d, Lane e, Lane f, Lane g, Lane h) {
    const Order one = {0, 8, 2, 10, 4, 12, 6, 14}, two = {1, 9, 3, 11, 5, 13, 7, 15};
    const Order three = {0, 1, 8, 9, 4, 5, 12, 13}, four = {2, 3, 10, 11, 6, 7, 14, 15};
    const Order five = {0, 1, 2, 3, 8, 9, 10, 11}, six = {4, 5, 6, 7, 12, 13, 14, 15};
    const Lane ab = SUM_PAIRS(a, b, one, two), cd = SUM_PAIRS(c, d, one, two);
    const Lane ef = SUM_PAIRS(e, f, one, two), gh = SUM_PAIRS(g, h, one, two);
    const Lane left = SUM_PAIRS(ab, cd, three, four), right = SUM_PAIRS(ef, gh, three, four);
    return SUM_PAIRS(left, right, five, six);
}
#else
inline Lane sums_of(Lane a, Lane b, Lane c, Lane d, Lane e, Lane f, Lane g, Lane h) {
    const Lane all[kLane] = {a, b, c, d, e, f, g, h};
    double sums[kLane];
    for (int64_t k = 0; k < kLane; ++k) {
        double part[kLane];
        store(part, all[k]);
        sums[k] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    return load(sums);
}
#endif

// scores[r][k] = sum over j of weights[k][j] rows[r][j], for all rows of a tile.
BAYESWISE_CLONES
void score_tile(double* __restrict scores, const double* __restrict weights, const double* __restrict rows,
                int64_t n_vectors, int64_t n_padded) {
    for (int64_t first = 0; first < kTileRows; first += kLane) {
        const double* x = rows + first * n_padded;
        for (int64_t k = 0; k < n_vectors; ++k) {
            const double* w = weights + k * n_padded;
            Lane a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {};
            for (int64_t j = 0; j < n_padded; j += kLane) {
                const Lane v = load(w + j);
                const double* z = x + j;
                a = a + v * load(z);
                b = b + v * load(z + n_padded);
                c = c + v * load(z + 2 * n_padded);
                d = d + v * load(z + 3 * n_padded);
                e = e + v * load(z + 4 * n_padded);
                f = f + v * load(z + 5 * n_padded);
                g = g + v * load(z + 6 * n_padded);
                h = h + v * load(z + 7 * n_padded);
            }
            double found[kLane];
            store(found, sums_of(a, b, c, d, e, f, g, h));
            for (int64_t r = 0; r < kLane; ++r) scores[(first + r) * n_vectors + k] = found[r];
        }
    }
}

// sums[i][j] += sum over rows of left[r][i] rows[r][j], for W values of i.
#if defined(__GNUC__)
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define ALWAYS_INLINE inline
#endif
template <int W>
ALWAYS_INLINE void add_some(double* __restrict sums, const double* __restrict left, int64_t left_step,
                            const double* __restrict rows, int64_t n_padded, int64_t from) {
    for (int64_t j = from; j < n_padded; j += kLane) {
        Lane total[W] = {};
        const double* l = left;
        const double* x = rows + j;
        for (int64_t r = 0; r < kTileRows; ++r, x += n_padded, l += left_step) {
            const Lane z = load(x);
            for (int i = 0; i < W; ++i) total[i] = total[i] + l[i] * z;
        }
        for (int i = 0; i < W; ++i) store(sums + i * n_padded + j, load(sums + i * n_padded + j) + total[i]);
    }
}

// The same for any number of i, eight at a time and then what is left; of a triangle, registers that lie wholly below
// the diagonal are left out.
BAYESWISE_CLONES
void add_products(double* __restrict sums, const double* __restrict left, int64_t n_left, int64_t left_step,
                  const double* __restrict rows, int64_t n_padded, bool triangle) {
    int64_t i = 0;
    for (; i + 8 <= n_left; i += 8)
        add_some<8>(sums + i * n_padded, left + i, left_step, rows, n_padded, triangle ? i : 0);
    const int64_t from = triangle ? i : 0;
    if (n_left - i >= 4) {
        add_some<4>(sums + i * n_padded, left + i, left_step, rows, n_padded, from);
        i += 4;
    }
    if (n_left - i >= 2) {
        add_some<2>(sums + i * n_padded, left + i, left_step, rows, n_padded, from);
        i += 2;
    }
    if (n_left > i) add_some<1>(sums + i * n_padded, left + i, left_step, rows, n_padded, from);
}

// sums[j] += sum over rows of left[r] rows[r][j].
BAYESWISE_CLONES
void add_weighted(double* __restrict sums, const double* __restrict left, const double* __restrict rows,
                  int64_t n_padded) {
    for (int64_t j = 0; j < n_padded; j += kLane) {
        Lane even = {}, odd = {};
        const double* x = rows + j;
        for (int64_t r = 0; r < kTileRows; r += 2, x += 2 * n_padded) {
            even = even + left[r] * load(x);
            odd = odd + left[r + 1] * load(x + n_padded);
        }
        store(sums + j, load(sums + j) + (even + odd));
    }
}

// scaled[r][j] = by[r] rows[r][j].
BAYESWISE_CLONES
void scale_rows(double* __restrict scaled, const double* __restrict rows, const double* __restrict by,
                int64_t n_padded) {
    for (int64_t r = 0; r < kTileRows; ++r)
        for (int64_t j = 0; j < n_padded; ++j) scaled[r * n_padded + j] = by[r] * rows[r * n_padded + j];
}

BAYESWISE_CLONES
void standardise(double* __restrict to, const double* __restrict row, const double* __restrict centre,
                 const double* __restrict inverse, int64_t n) {
    for (int64_t c = 0; c < n; ++c) to[c] = (row[c] - centre[c]) * inverse[c];
}

void standardise(double* to, const float* row, const double* centre, const double* inverse, int64_t n) {
    for (int64_t c = 0; c < n; ++c) to[c] = (static_cast<double>(row[c]) - centre[c]) * inverse[c];
}

// Weights with the zeros that the columns have.
std::vector<double> padded_weights(const double* weights, int64_t n_vectors, int64_t n_columns, int64_t n_padded) {
    std::vector<double> wide(n_vectors * n_padded);
    for (int64_t k = 0; k < n_vectors; ++k)
        std::copy(weights + k * n_columns, weights + (k + 1) * n_columns, wide.begin() + k * n_padded);
    return wide;
}

// The rows of a block as tiles: z = (x - centre) inverse_scale, then a one; rows beyond the last are zero.
template <typename T>
class Tiles {
  public:
    Tiles(const Cells<T>& values, const Vector& centre, const Vector& inverse)
        : values_(values), centre_(centre.data()), inverse_(inverse.data()), n_rows(values.shape(0)),
          n_columns(values.shape(1) + 1), n_padded(padded(n_columns)), rows(kTileRows * n_padded) {
        require(centre.shape(0) == values.shape(1) && inverse.shape(0) == values.shape(1),
                "centre, scale and values differ in columns");
    }

    int64_t fill(int64_t first) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        const int64_t row_step = values_.stride(0), column_step = values_.stride(1);
        if (here < kTileRows) std::fill(rows.begin(), rows.end(), 0.0);
        for (int64_t r = 0; r < here; ++r) {
            const T* row = values_.data() + (first + r) * row_step;
            double* to = rows.data() + r * n_padded;
            if (column_step == 1) {
                standardise(to, row, centre_, inverse_, n_columns - 1);
            } else {
                for (int64_t c = 0; c + 1 < n_columns; ++c)
                    to[c] = (static_cast<double>(row[c * column_step]) - centre_[c]) * inverse_[c];
            }
            to[n_columns - 1] = 1.0;
        }
        return here;
    }

  private:
    const Cells<T>& values_;
    const double* centre_;
    const double* inverse_;

  public:
    const int64_t n_rows, n_columns, n_padded;
    std::vector<double> rows;  // (kTileRows, n_padded)
};

// Sums of products with the tiles, (n_left, n_columns), padded inside.
class Sums {
  public:
    Sums(int64_t n_left, int64_t n_padded) : n_padded_(n_padded), sums_(padded(n_left) * n_padded) {}

    // `left` is (kTileRows, left_step).
    void add(const double* left, int64_t n_left, int64_t left_step, const double* rows, bool triangle) {
        add_products(sums_.data(), left, n_left, left_step, rows, n_padded_, triangle);
    }

    double* data() { return sums_.data(); }

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
    const std::vector<double> wide = padded_weights(weights.data(), 1, n, tiles.n_padded);
    std::vector<double> scores(kTileRows), first(kTileRows), second(kTileRows);
    std::vector<double> scaled(tiles.n_padded * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile(scores.data(), wide.data(), tiles.rows.data(), 1, tiles.n_padded);
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
        add_weighted(slopes.data(), first.data(), tiles.rows.data(), tiles.n_padded);
        scale_rows(scaled.data(), tiles.rows.data(), second.data(), tiles.n_padded);
        curves.add(scaled.data(), n, tiles.n_padded, tiles.rows.data(), true);
    }
    copy_out(slopes, gradient.data(), 1, n);
    copy_symmetric(curves, hessian.data(), n);
    return loss;
}

// One tile of softmax: the scores (kTileRows, n_classes) become probabilities less one at the true class, times the
// weight of the row, in `slopes` (kTileRows, step); rows beyond the last become zero.
double softmax_tile(const double* scores, double* slopes, int64_t n_classes, int64_t step, int64_t here,
                    const int32_t* targets, const double* row_weights, double* probabilities) {
    double loss = 0.0;
    std::fill(slopes + here * step, slopes + kTileRows * step, 0.0);
    for (int64_t r = 0; r < here; ++r) {
        const double* s = scores + r * n_classes;
        double* to = slopes + r * step;
        double* p = probabilities + r * n_classes;
        const double by = row_weights ? row_weights[r] : 1.0;
        const double top = *std::max_element(s, s + n_classes);
        double total = 0.0;
        for (int64_t k = 0; k < n_classes; ++k) total += p[k] = std::exp(s[k] - top);
        if (by != 0.0) loss += by * (std::log(total) - (s[targets[r]] - top));
        double others = 0.0;
        for (int64_t k = 0; k < n_classes; ++k) others += k == targets[r] ? 0.0 : p[k];
        const double inverse = 1.0 / total;
        for (int64_t k = 0; k < n_classes; ++k) to[k] = by * (p[k] *= inverse);
        // 1 - p of the true class from the others, so that no digits are lost near 1.
        to[targets[r]] = -by * others * inverse;
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
    const std::vector<double> wide = padded_weights(weights.data(), n_classes, n, tiles.n_padded);
    const int64_t step = padded(n_classes);
    std::vector<double> scores(n_classes * kTileRows), left(step * kTileRows);
    double loss = 0.0;
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile(scores.data(), wide.data(), tiles.rows.data(), n_classes, tiles.n_padded);
        loss += softmax_tile(scores.data(), left.data(), n_classes, step, here, targets.data() + begin,
                             weighted ? row_weights.data() + begin : nullptr,
                             probabilities.data() + begin * n_classes);
        slopes.add(left.data(), n_classes, step, tiles.rows.data(), false);
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
    const std::vector<double> wide = padded_weights(direction.data(), n_classes, n, tiles.n_padded);
    const int64_t step = padded(n_classes);
    std::vector<double> scores(n_classes * kTileRows), left(step * kTileRows);
    for (int64_t begin = 0; begin < tiles.n_rows; begin += kTileRows) {
        const int64_t here = tiles.fill(begin);
        score_tile(scores.data(), wide.data(), tiles.rows.data(), n_classes, tiles.n_padded);
        std::fill(left.begin() + here * step, left.end(), 0.0);
        for (int64_t r = 0; r < here; ++r) {
            const double* p = probabilities.data() + (begin + r) * n_classes;
            const double* u = scores.data() + r * n_classes;
            const double by = weighted ? row_weights.data()[begin + r] : 1.0;
            double mean = 0.0;
            for (int64_t k = 0; k < n_classes; ++k) mean += p[k] * u[k];
            for (int64_t k = 0; k < n_classes; ++k) left[r * step + k] = by * p[k] * (u[k] - mean);
        }
        sums.add(left.data(), n_classes, step, tiles.rows.data(), false);
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
        scale_rows(scaled.data(), tiles.rows.data(), by.data(), tiles.n_padded);
        sums.add(scaled.data(), n, tiles.n_padded, tiles.rows.data(), true);
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
