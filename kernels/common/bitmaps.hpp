// Rows as bitmaps, one for each value of a column, and products of bitmaps for each kind of processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bayeswise {

constexpr int64_t kWordBits = 64;

// The words of the bitmaps of one column: word w of slot s has bit r if row 64 w + r has that slot.
template <class Slot>
inline void pack(const Slot* slots, int64_t n_words, int64_t n_slots, uint64_t* maps, int64_t stride) {
    std::vector<uint64_t> word(static_cast<std::size_t>(n_slots) + 1);
    for (int64_t w = 0; w < n_words; ++w, slots += kWordBits) {
        std::fill(word.begin(), word.end(), 0);
        for (int r = 0; r < kWordBits; ++r)
            word[static_cast<std::size_t>(std::min<int64_t>(slots[r], n_slots))] |= uint64_t{1} << r;
        for (int64_t s = 0; s < n_slots; ++s) maps[s * stride + w] = word[static_cast<std::size_t>(s)];
    }
}

#if defined(__SSE2__)
template <>
inline void pack(const uint8_t* slots, int64_t n_words, int64_t n_slots, uint64_t* maps, int64_t stride) {
    for (int64_t s = 0; s < n_slots; ++s) {
        const __m128i expected = _mm_set1_epi8(static_cast<char>(s));
        for (int64_t w = 0; w < n_words; ++w) {
            uint64_t word = 0;
            for (int part = 0; part < 4; ++part) {
                const auto* at = reinterpret_cast<const __m128i*>(slots + w * kWordBits + 16 * part);
                const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at), expected));
                word |= static_cast<uint64_t>(static_cast<uint32_t>(equal)) << (16 * part);
            }
            maps[s * stride + w] = word;
        }
    }
}
#endif

// The bits in common of each of four maps with each of four others, (4, 4).
constexpr int kBlockSide = 4;
using Block = void (*)(const uint64_t* const* left, const uint64_t* const* right, int64_t n_words, int64_t* products);
Block block_of_products();

// How many bits both have.
int64_t common_bits(const uint64_t* left, const uint64_t* right, int64_t n_words);

// table[slots[i] * stride + slots[j]] += the bits that maps i and j have in common, for all i <= j.
void add_common_bits(const std::vector<const uint64_t*>& maps, const std::vector<int64_t>& slots, int64_t n_words,
                     int64_t* table, int64_t stride);

// Beyond so many levels a column is counted cell by cell.
int64_t most_slots_for_bitmaps();

}  // namespace bayeswise
