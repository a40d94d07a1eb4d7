// Bits of a word, by one instruction where the compiler has a name for it and by arithmetic elsewhere.
#pragma once

#include <cstdint>

#include "common/isa.hpp"

namespace bayeswise {

namespace bits {

BAYESWISE_INLINE int count(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    return int((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
#endif
}

// How many zeros stand before the highest bit that is set; there must be one.
inline int leading_zeros(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_clzll(word);
#else
    for (int k = 1; k < 64; k *= 2) word |= word >> k;
    return 64 - count(word);
#endif
}

// The place of the lowest bit that is set; there must be one.
inline int lowest(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    return count((word & (~word + 1)) - 1);
#endif
}

}  // namespace bits

}  // namespace bayeswise
