#include "common/bitmaps.hpp"

#include <algorithm>

#include "common/bits.hpp"
#include "common/isa.hpp"

namespace bayeswise {

namespace {

// The products of four maps with four others.
BAYESWISE_INLINE void block_of(const uint64_t* const* left, const uint64_t* const* right, int64_t n_words,
                               int64_t* products) {
    uint64_t sums[kBlockSide * kBlockSide] = {0};
    for (int64_t w = 0; w < n_words; ++w)
        for (int i = 0; i < kBlockSide; ++i)
            for (int j = 0; j < kBlockSide; ++j)
                sums[i * kBlockSide + j] += static_cast<uint64_t>(bits::count(left[i][w] & right[j][w]));
    for (int k = 0; k < kBlockSide * kBlockSide; ++k) products[k] = static_cast<int64_t>(sums[k]);
}

void plain_block(const uint64_t* const* left, const uint64_t* const* right, int64_t n_words, int64_t* products) {
    block_of(left, right, n_words, products);
}

#if BAYESWISE_COPIES
__attribute__((target("popcnt"))) void counting_block(const uint64_t* const* left, const uint64_t* const* right,
                                                      int64_t n_words, int64_t* products) {
    block_of(left, right, n_words, products);
}

BAYESWISE_WIDE("avx512f,avx512vpopcntdq")
void wide_block(const uint64_t* const* left, const uint64_t* const* right, int64_t n_words, int64_t* products) {
    block_of(left, right, n_words, products);
}
#endif

struct Choice {
    Block block;
    int64_t most_slots;
};

Choice choice() {
#if BAYESWISE_COPIES
    const Isa best = isa();
    if (best == Isa::avx512 && __builtin_cpu_supports("avx512vpopcntdq")) return {wide_block, 24};
    if (best != Isa::plain) return {counting_block, 16};
#endif
    return {plain_block, 5};
}

}  // namespace

Block block_of_products() { return choice().block; }

int64_t most_slots_for_bitmaps() { return choice().most_slots; }

int64_t common_bits(const uint64_t* left, const uint64_t* right, int64_t n_words) {
    const uint64_t *lefts[kBlockSide] = {left, left, left, left}, *rights[kBlockSide] = {right, right, right, right};
    int64_t products[kBlockSide * kBlockSide];
    choice().block(lefts, rights, n_words, products);
    return products[0];
}

void add_common_bits(const std::vector<const uint64_t*>& maps, const std::vector<int64_t>& slots, int64_t n_words,
                     int64_t* table, int64_t stride) {
    const Block block = block_of_products();
    const auto n = static_cast<int64_t>(maps.size());
    const uint64_t *left[kBlockSide], *right[kBlockSide];
    int64_t products[kBlockSide * kBlockSide];
    for (int64_t i = 0; i < n; i += kBlockSide) {
        for (int k = 0; k < kBlockSide; ++k) left[k] = maps[static_cast<std::size_t>(std::min(i + k, n - 1))];
        for (int64_t j = i; j < n; j += kBlockSide) {
            for (int k = 0; k < kBlockSide; ++k) right[k] = maps[static_cast<std::size_t>(std::min(j + k, n - 1))];
            block(left, right, n_words, products);
            for (int64_t s = i; s < std::min(i + kBlockSide, n); ++s)
                for (int64_t t = std::max(s, j); t < std::min(j + kBlockSide, n); ++t)
                    table[slots[static_cast<std::size_t>(s)] * stride + slots[static_cast<std::size_t>(t)]] +=
                        products[(s - i) * kBlockSide + (t - j)];
        }
    }
}

}  // namespace bayeswise
