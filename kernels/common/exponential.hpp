// e^x and log x without branches, so that loops over them fit into registers.
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
    // Pairs of terms, then fours, then eights: a long chain of sums would wait for each of its links.
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double low = (1.0 + r) + r2 * (1.0 / 2.0 + r * (1.0 / 6.0));
    const double middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    const double high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    const double last = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    const double p = low + r4 * (middle + (r4 * high + r8 * last));
    return p * double_of(static_cast<int64_t>((static_cast<uint64_t>(bits_of(shifted)) + 1023) << 52));
}

// For normal x > 0, to a unit or two in the last place: x = 2^k m with m about 1, and log m = 2 atanh((m - 1) / (m + 1)).
BAYESWISE_INLINE double logarithm(double x) {
    constexpr int64_t kRootHalf = 0x3FE6A09E667F3BCD;  // the bits of sqrt(1 / 2)
    const int64_t k = (bits_of(x) - kRootHalf) >> 52;
    const double m = double_of(bits_of(x) - static_cast<int64_t>(static_cast<uint64_t>(k) << 52));
    const double u = (m - 1.0) / (m + 1.0), u2 = u * u, u4 = u2 * u2, u8 = u4 * u4;
    const double low = (1.0 / 3.0 + u2 * (1.0 / 5.0)) + u4 * (1.0 / 7.0 + u2 * (1.0 / 9.0));
    const double high = (1.0 / 11.0 + u2 * (1.0 / 13.0)) + u4 * (1.0 / 15.0 + u2 * (1.0 / 17.0));
    const double series = low + u8 * (high + u8 * (1.0 / 19.0 + u2 * (1.0 / 21.0)));
    // k as a double, by way of the bits of 1.5 2^52 + k
    const double whole = double_of(bits_of(kRound) + k) - kRound;
    return whole * kLn2High + (2.0 * (u + u * (u2 * series)) + whole * kLn2Low);
}

}  // namespace bayeswise
