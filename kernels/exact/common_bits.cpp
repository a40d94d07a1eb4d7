#include <algorithm>

#include "networks/bitmaps.hpp"
#include "common/isa.hpp"

#if defined(__GNUC__)
#define BAYESWISE_BITS(word) __builtin_popcountll(word)
#else
#include <bitset>
#define BAYESWISE_BITS(word) std::bitset<64>(word).count()
#endif

namespace bayeswise {
namespace {

constexpr int side = block_side;

// The products of four maps with four others.
BAYESWISE_INLINE void block_of(const std::uint64_t* const* left, const std::uint64_t* const* right,
                               std::int64_t n_words, std::int64_t* products) {
    std::uint64_t sums[side * side] = {0};
    for (std::int64_t w = 0; w < n_words; ++w)
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j)
                sums[i * side + j] += static_cast<std::uint64_t>(BAYESWISE_BITS(left[i][w] & right[j][w]));
    for (int k = 0; k < side * side; ++k) products[k] = static_cast<std::int64_t>(sums[k]);
}

void plain_block(const std::uint64_t* const* left, const std::uint64_t* const* right, std::int64_t n_words,
                 std::int64_t* products) {
    block_of(left, right, n_words, products);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) void counting_block(const std::uint64_t* const* left,
                                                      const std::uint64_t* const* right, std::int64_t n_words,
                                                      std::int64_t* products) {
    block_of(left, right, n_words, products);
}

__attribute__((target("avx512f,avx512vpopcntdq,prefer-vector-width=512"))) void wide_block(
    const std::uint64_t* const* left, const std::uint64_t* const* right, std::int64_t n_words,
    std::int64_t* products) {
    block_of(left, right, n_words, products);
}
#endif

struct Choice {
    Block block;
    std::int64_t most_slots;
};

Choice choice() {
#if defined(__x86_64__) && defined(__GNUC__)
    const Isa best = isa();
    if (best == Isa::avx512 && __builtin_cpu_supports("avx512vpopcntdq")) return {wide_block, 24};
    if (best != Isa::plain) return {counting_block, 16};
#endif
    return {plain_block, 5};
}

}  // namespace

Block block_of_products() { return choice().block; }

std::int64_t most_slots_for_bitmaps() { return choice().most_slots; }

std::int64_t common_bits(const std::uint64_t* left, const std::uint64_t* right, std::int64_t n_words) {
    const std::uint64_t *lefts[side] = {left, left, left, left}, *rights[side] = {right, right, right, right};
    std::int64_t products[side * side];
    choice().block(lefts, rights, n_words, products);
    return products[0];
}

void add_common_bits(const std::vector<const std::uint64_t*>& maps, const std::vector<std::int64_t>& slots,
                     std::int64_t n_words, std::int64_t* table, std::int64_t stride) {
    const Block block = block_of_products();
    const auto n = static_cast<std::int64_t>(maps.size());
    const std::uint64_t *left[side], *right[side];
    std::int64_t products[side * side];
    for (std::int64_t i = 0; i < n; i += side) {
        for (int k = 0; k < side; ++k) left[k] = maps[static_cast<std::size_t>(std::min(i + k, n - 1))];
        for (std::int64_t j = i; j < n; j += side) {
            for (int k = 0; k < side; ++k) right[k] = maps[static_cast<std::size_t>(std::min(j + k, n - 1))];
            block(left, right, n_words, products);
            for (std::int64_t s = i; s < std::min(i + side, n); ++s)
                for (std::int64_t t = std::max(s, j); t < std::min(j + side, n); ++t)
                    table[slots[static_cast<std::size_t>(s)] * stride + slots[static_cast<std::size_t>(t)]] +=
                        products[(s - i) * side + (t - j)];
        }
    }
}

}  // namespace bayeswise
