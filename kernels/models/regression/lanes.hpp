// Rows in registers, and the two products that regression makes with them: rows times weights, and amounts of rows times
// rows. Whatever the registers' width, each sum is made of the same parts in the same order: eight running sums of doubles
// (sixteen of floats), which are added pair by pair.
#pragma once

#include <cstdint>
#include <utility>

#include "common/registers.hpp"

namespace bayeswise::models {

constexpr int64_t kTileRows = 32;  // a tile of a hundred columns fits the first cache

// The running sums of one product.
template <typename C>
constexpr int64_t lane_of() {
    return 64 / sizeof(C);
}

// Each row of a tile fills whole registers.
template <typename C>
int64_t padded(int64_t n) {
    return (n + lane_of<C>() - 1) / lane_of<C>() * lane_of<C>();
}

// The sums of R times 64 bytes, one after the other.
template <int R, typename C>
BAYESWISE_INLINE void pairwise_sums(C* parts, C* sums) {
    for (int64_t n = lane_of<C>(); n > 1; n /= 2)
        for (int64_t k = 0; k < R * n / 2; ++k) parts[k] = parts[2 * k] + parts[2 * k + 1];
    for (int r = 0; r < R; ++r) sums[r] = parts[r];
}

#ifdef BAYESWISE_SHUFFLES
template <typename C> using Full = typename Register<C, 64>::type;

// Of two registers of n numbers, blocks of `size` in turn from the one and the other: the places of the first of each two.
constexpr int turn(int k, int size, int n) { return (k / size % 2) * n + k % size + k / (2 * size) * (2 * size); }

template <int size, typename C, int... k>
BAYESWISE_INLINE Full<C> sums_of_pairs(const Full<C>& x, const Full<C>& y, std::integer_sequence<int, k...>) {
    constexpr int n = sizeof...(k);
    return __builtin_shufflevector(x, y, turn(k, size, n)...) +
           __builtin_shufflevector(x, y, (turn(k, size, n) + size)...);
}

// The same sums as pairwise_sums makes of eight registers.
template <typename C>
BAYESWISE_INLINE void sums_of_eight(const Full<C>* of, C* sums) {
    constexpr std::make_integer_sequence<int, int(lane_of<C>())> places;
    Full<C> pairs[4], fours[2];
    for (int r = 0; r < 4; ++r) pairs[r] = sums_of_pairs<1, C>(of[2 * r], of[2 * r + 1], places);
    for (int r = 0; r < 2; ++r) fours[r] = sums_of_pairs<2, C>(pairs[2 * r], pairs[2 * r + 1], places);
    const Full<C> eights = sums_of_pairs<4, C>(fours[0], fours[1], places);
    for (int r = 0; r < 8; ++r) sums[r] = lane_of<C>() == 8 ? eights[r] : eights[r] + eights[(r + 8) % lane_of<C>()];
}
#endif

#ifdef BAYESWISE_SHUFFLES
// The sums of each two neighbours in x and then in y.
template <typename C, int W, int... k>
BAYESWISE_INLINE typename Register<C, W>::type sums_of_neighbours(const typename Register<C, W>::type& x,
                                                                  const typename Register<C, W>::type& y,
                                                                  std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(x, y, 2 * k...) + __builtin_shufflevector(x, y, (2 * k + 1)...);
}
#endif

// The sums of each of the R rows, of which W bytes after W bytes stand in registers.
template <int R, typename C, int W>
BAYESWISE_INLINE void sums_of_rows(const typename Register<C, W>::type* of, C* sums) {
    constexpr int64_t kStep = Register<C, W>::lanes;
#ifdef BAYESWISE_SHUFFLES
    if constexpr (W == 64) {
        sums_of_eight<C>(of, sums);
        return;
    } else {  // eight registers are added pair by pair until one is left, which has one or two sums of each row
        constexpr std::make_integer_sequence<int, int(kStep)> places;
        static_assert(R * lane_of<C>() / kStep == 8);
        typename Register<C, W>::type left[4];
        for (int k = 0; k < 4; ++k) left[k] = sums_of_neighbours<C, W>(of[2 * k], of[2 * k + 1], places);
        for (int k = 0; k < 2; ++k) left[k] = sums_of_neighbours<C, W>(left[2 * k], left[2 * k + 1], places);
        left[0] = sums_of_neighbours<C, W>(left[0], left[1], places);
        for (int r = 0; r < R; ++r) sums[r] = kStep == R ? left[0][r] : left[0][2 * r] + left[0][2 * r + 1];
        return;
    }
#endif
    C parts[R * lane_of<C>()];
    for (int64_t k = 0; k < R * lane_of<C>() / kStep; ++k) store<C, W>(parts + k * kStep, of[k]);
    pairwise_sums<R>(parts, sums);
}

// scores[r][k] = sum over j of weights[k][j] rows[r][j], for all rows of a tile. As many rows at a time as registers hold.
template <typename C, int W>
BAYESWISE_INLINE void score_rows(C* __restrict scores, const C* __restrict weights, const C* __restrict rows,
                                 int64_t n_vectors, int64_t n_padded) {
    using Cells = typename Register<C, W>::type;
    constexpr int kStep = Register<C, W>::lanes, kParts = lane_of<C>() / kStep, kRows = kParts < 4 ? 8 / kParts : 2;
    for (int64_t first = 0; first < kTileRows; first += kRows) {
        const C* x = rows + first * n_padded;
        for (int64_t k = 0; k < n_vectors; ++k) {
            const C* w = weights + k * n_padded;
            Cells total[kRows * kParts] = {};
            for (int64_t j = 0; j < n_padded; j += lane_of<C>())
                for (int p = 0; p < kParts; ++p) {
                    const Cells v = load<C, W>(w + j + p * kStep);
                    for (int r = 0; r < kRows; ++r)
                        total[r * kParts + p] =
                            total[r * kParts + p] + v * load<C, W>(x + r * n_padded + j + p * kStep);
                }
            C found[kRows];
            sums_of_rows<kRows, C, W>(total, found);
            for (int64_t r = 0; r < kRows; ++r) scores[(first + r) * n_vectors + k] = found[r];
        }
    }
}
template <typename C>
constexpr auto score_tile = on_isa<score_rows<C, kPlainBytes>, score_rows<C, kAvx2Bytes>, score_rows<C, kAvx512Bytes>>;

// sums[i][j] += sum over rows of left[r][i] rows[r][j], for N values of i and all j from the register of `from` on.
template <int N, int W, typename C>
BAYESWISE_INLINE void add_some(C* __restrict sums, const C* __restrict left, int64_t left_step,
                               const C* __restrict rows, int64_t n_padded, int64_t from) {
    using Cells = typename Register<C, W>::type;
    constexpr int64_t kStep = Register<C, W>::lanes;
    for (int64_t j = from / kStep * kStep; j < n_padded; j += kStep) {
        Cells total[N] = {};
        const C* l = left;
        const C* x = rows + j;
        for (int64_t r = 0; r < kTileRows; ++r, x += n_padded, l += left_step) {
            const Cells z = load<C, W>(x);
            for (int i = 0; i < N; ++i) total[i] = total[i] + l[i] * z;
        }
        for (int i = 0; i < N; ++i)
            store<C, W>(sums + i * n_padded + j, load<C, W>(sums + i * n_padded + j) + total[i]);
    }
}

// The same for any number of i: where ten are left at once, else eight, and then what remains.
template <typename C, int W>
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
            add_some<10, W>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
        } else {
            const int64_t at = next(8);
            add_some<8, W>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
        }
    }
    const int64_t from = triangle ? i : 0;
    if (n_left - i >= 4) {
        const int64_t at = next(4);
        add_some<4, W>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
    }
    if (n_left - i >= 2) {
        const int64_t at = next(2);
        add_some<2, W>(sums + at * n_padded, left + at, left_step, rows, n_padded, from);
    }
    if (n_left > i) add_some<1, W>(sums + i * n_padded, left + i, left_step, rows, n_padded, from);
}
template <typename C>
constexpr auto add_products = on_isa<add_all<C, kPlainBytes>, add_all<C, kAvx2Bytes>, add_all<C, kAvx512Bytes>>;

}  // namespace bayeswise::models
