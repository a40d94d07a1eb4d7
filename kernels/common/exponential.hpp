// e^x without branches, so that loops over it fit into registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/isa.hpp"

namespace bayeswise {

constexpr double kRound =
    6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, which is then in the low bits
constexpr double kLog2e = 1.4426950408889634, kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;

BAYESWISE_INLINE int64_t bits_of(double x) {
    int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

BAYESWISE_INLINE double double_of(int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// For x in [-708, 0], to a few units in the last place: 2^k times the Taylor series of a rest of at most log(2) / 2.
BAYESWISE_INLINE double exponential(double x) {
    const double shifted = x * kLog2e + kRound;
    const double k = shifted - kRound;
    const double r = (x - k * kLn2High) - k * kLn2Low;
    double p = 1.0 / 6227020800.0;
    constexpr double kInverseFactorials[] = {1.0 / 479001600.0,
                                             1.0 / 39916800.0,
                                             1.0 / 3628800.0,
                                             1.0 / 362880.0,
                                             1.0 / 40320.0,
                                             1.0 / 5040.0,
                                             1.0 / 720.0,
                                             1.0 / 120.0,
                                             1.0 / 24.0,
                                             1.0 / 6.0,
                                             0.5,
                                             1.0,
                                             1.0};
    for (double c : kInverseFactorials) p = p * r + c;
    return p * double_of(static_cast<int64_t>((static_cast<uint64_t>(bits_of(shifted)) + 1023) << 52));
}

}  // namespace bayeswise
