// Registers of 64 bytes, eight doubles or sixteen floats, and the two products that regression makes with them:
// rows times weights, and amounts of rows times rows. Eight sums at a time stay in registers.
#pragma once

#include <cstdint>

#include "clones.hpp"

namespace {

constexpr int64_t kTileRows = 32;  // a tile of a hundred columns fits the first cache

template <typename C>
constexpr int64_t lane_of() { return 64 / sizeof(C); }

// Each row of a tile fills whole registers.
template <typename C>
int64_t padded(int64_t n) { return (n + lane_of<C>() - 1) / lane_of<C>() * lane_of<C>(); }

#if defined(__GNUC__)
template <typename C> struct LaneOf;
template <> struct LaneOf<double> { typedef double type __attribute__((vector_size(64), aligned(8), may_alias)); };
template <> struct LaneOf<float> { typedef float type __attribute__((vector_size(64), aligned(4), may_alias)); };
template <typename C> using Lane = typename LaneOf<C>::type;
#else
template <typename C>
struct Lane {
    C v[lane_of<C>()];
    friend Lane operator+(Lane a, const Lane& b) { for (int k = 0; k < lane_of<C>(); ++k) a.v[k] += b.v[k]; return a; }
    friend Lane operator*(Lane a, const Lane& b) { for (int k = 0; k < lane_of<C>(); ++k) a.v[k] *= b.v[k]; return a; }
    friend Lane operator*(C b, Lane a) { for (int k = 0; k < lane_of<C>(); ++k) a.v[k] *= b; return a; }
};
#endif

template <typename C>
BAYESWISE_INLINE Lane<C> load(const C* from) { return *reinterpret_cast<const Lane<C>*>(from); }
template <typename C>
BAYESWISE_INLINE void store(C* to, const Lane<C>& lane) { *reinterpret_cast<Lane<C>*>(to) = lane; }

// The sums of eight registers, one after the other.
#if defined(__GNUC__) && !defined(__clang__)
typedef int64_t Order8 __attribute__((vector_size(64)));
typedef int32_t Order16 __attribute__((vector_size(64)));
#define SUM_PAIRS(x, y, first, second) (__builtin_shuffle(x, y, first) + __builtin_shuffle(x, y, second))
template <typename L, typename Order>
BAYESWISE_INLINE L folded(const L* of, Order one, Order two, Order three, Order four, Order five, Order six) {
    const L ab = SUM_PAIRS(of[0], of[1], one, two), cd = SUM_PAIRS(of[2], of[3], one, two);
    const L ef = SUM_PAIRS(of[4], of[5], one, two), gh = SUM_PAIRS(of[6], of[7], one, two);
    const L left = SUM_PAIRS(ab, cd, three, four), right = SUM_PAIRS(ef, gh, three, four);
    return SUM_PAIRS(left, right, five, six);
}
BAYESWISE_INLINE void sums_of(const Lane<double>* of, double* sums) {
    const Order8 one = {0, 8, 2, 10, 4, 12, 6, 14}, two = {1, 9, 3, 11, 5, 13, 7, 15};
    const Order8 three = {0, 1, 8, 9, 4, 5, 12, 13}, four = {2, 3, 10, 11, 6, 7, 14, 15};
    const Order8 five = {0, 1, 2, 3, 8, 9, 10, 11}, six = {4, 5, 6, 7, 12, 13, 14, 15};
    store<double>(sums, folded(of, one, two, three, four, five, six));
}
BAYESWISE_INLINE void sums_of(const Lane<float>* of, float* sums) {
    const Order16 one = {0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30};
    const Order16 two = {1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31};
    const Order16 three = {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29};
    const Order16 four = {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31};
    const Order16 five = {0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27};
    const Order16 six = {4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31};
    const Lane<float> halves = folded(of, one, two, three, four, five, six);
    for (int r = 0; r < 8; ++r) sums[r] = halves[r] + halves[r + 8];
}
#else
template <typename C>
inline void sums_of(const Lane<C>* of, C* sums) {
    for (int r = 0; r < 8; ++r) {
        C part[lane_of<C>()];
        store<C>(part, of[r]);
        for (int64_t half = lane_of<C>() / 2; half > 0; half /= 2)
            for (int64_t k = 0; k < half; ++k) part[k] += part[k + half];
        sums[r] = part[0];
    }
}
#endif

template <typename C>
BAYESWISE_INLINE void score_rows(C* __restrict scores, const C* __restrict weights, const C* __restrict rows,
                                 int64_t n_vectors, int64_t n_padded) {
    for (int64_t first = 0; first < kTileRows; first += 8) {
        const C* x = rows + first * n_padded;
        for (int64_t k = 0; k < n_vectors; ++k) {
            const C* w = weights + k * n_padded;
            Lane<C> total[8] = {};
            for (int64_t j = 0; j < n_padded; j += lane_of<C>()) {
                const Lane<C> v = load(w + j);
                for (int r = 0; r < 8; ++r) total[r] = total[r] + v * load(x + r * n_padded + j);
            }
            C found[8];
            sums_of(total, found);
            for (int64_t r = 0; r < 8; ++r) scores[(first + r) * n_vectors + k] = found[r];
        }
    }
}

// scores[r][k] = sum over j of weights[k][j] rows[r][j], for all rows of a tile.
BAYESWISE_CLONES
inline void score_tile(double* scores, const double* weights, const double* rows, int64_t n_vectors, int64_t n_padded) {
    score_rows(scores, weights, rows, n_vectors, n_padded);
}
BAYESWISE_CLONES
inline void score_tile(float* scores, const float* weights, const float* rows, int64_t n_vectors, int64_t n_padded) {
    score_rows(scores, weights, rows, n_vectors, n_padded);
}

// sums[i][j] += sum over rows of left[r][i] rows[r][j], for W values of i and all j from the register of `from` on.
template <int W, typename C>
BAYESWISE_INLINE void add_some(C* __restrict sums, const C* __restrict left, int64_t left_step,
                               const C* __restrict rows, int64_t n_padded, int64_t from) {
    for (int64_t j = from / lane_of<C>() * lane_of<C>(); j < n_padded; j += lane_of<C>()) {
        Lane<C> total[W] = {};
        const C* l = left;
        const C* x = rows + j;
        for (int64_t r = 0; r < kTileRows; ++r, x += n_padded, l += left_step) {
            const Lane<C> z = load(x);
            for (int i = 0; i < W; ++i) total[i] = total[i] + l[i] * z;
        }
        for (int i = 0; i < W; ++i) store<C>(sums + i * n_padded + j, load(sums + i * n_padded + j) + total[i]);
    }
}

// The same for any number of i: where ten are left at once, else eight, and then what remains.
template <typename C>
BAYESWISE_INLINE void add_all(C* __restrict sums, const C* __restrict left, int64_t n_left, int64_t left_step,
                              const C* __restrict rows, int64_t n_padded, bool triangle) {
    int64_t i = 0;
    const auto next = [&](int64_t width) {
        const int64_t at = i;
        i += width;
        return at;
    };
    while (n_left - i >= 8) {
        const int64_t from = triangle ? i : 0;
        if (n_left - i == 10) {
            const int64_t at = next(10);
            add_some<10>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
        } else {
            const int64_t at = next(8);
            add_some<8>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
        }
    }
    const int64_t from = triangle ? i : 0;
    if (n_left - i >= 4) {
        const int64_t at = next(4);
        add_some<4>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
    }
    if (n_left - i >= 2) {
        const int64_t at = next(2);
        add_some<2>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
    }
    if (n_left > i) add_some<1>(sums + i * n_padded, left + i, left_step, rows, n_padded, from);
}

BAYESWISE_CLONES
inline void add_products(double* sums, const double* left, int64_t n_left, int64_t left_step, const double* rows,
                         int64_t n_padded, bool triangle) {
    add_all(sums, left, n_left, left_step, rows, n_padded, triangle);
}
BAYESWISE_CLONES
inline void add_products(float* sums, const float* left, int64_t n_left, int64_t left_step, const float* rows,
                         int64_t n_padded, bool triangle) {
    add_all(sums, left, n_left, left_step, rows, n_padded, triangle);
}

}  // namespace
