// Products of bitmaps, for each kind of processor.
#pragma once

#include <cstdint>
#include <vector>

namespace bayeswise {

// How many bits both have.
std::int64_t common_bits(const std::uint64_t* left, const std::uint64_t* right, std::int64_t n_words);

// table[slots[i] * stride + slots[j]] += the bits that maps i and j have in common, for all i <= j.
void add_common_bits(const std::vector<const std::uint64_t*>& maps, const std::vector<std::int64_t>& slots,
                     std::int64_t n_words, std::int64_t* table, std::int64_t stride);

// Beyond so many levels a column is counted cell by cell.
std::int64_t most_slots_for_bitmaps();

}  // namespace bayeswise
