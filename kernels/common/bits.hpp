// Bits of a word, by one instruction where the compiler has a name for it and by arithmetic elsewhere.
#pragma once

#include <cstdint>

namespace bayeswise {

namespace bits {

inline int count(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    return int((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
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
