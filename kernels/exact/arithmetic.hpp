// Error-free products: what a rounded product loses is itself a double.
#pragma once

#include <cmath>

namespace bayeswise::exact {

// high + low, exactly; |low| is at most half a unit in the last place of high.
struct TwoTerms {
    double high, low;
};

// Veltkamp: value = high + low where each half has at most 26 bits, so that products of halves are exact.
inline TwoTerms halves(double value) {
    const double stretched = 134217729.0 * value;  // 2^27 + 1
    const double high = stretched - (stretched - value);
    return {high, value - high};
}

// Dekker: a * b = high + low, exactly, unless a product of halves leaves the range of a double.
inline TwoTerms two_product(double a, double b) {
    const double high = a * b;
    const TwoTerms x = halves(a), y = halves(b);
    const double low = ((x.high * y.high - high) + x.high * y.low + x.low * y.high) + x.low * y.low;
    return {high, low};
}

// value = fraction * 2^exponent with 0.5 <= |fraction| < 1: products of fractions can neither over- nor underflow.
struct Scaled {
    double fraction;
    int exponent;
};

inline Scaled scaled(double value) {
    Scaled result;
    result.fraction = std::frexp(value, &result.exponent);
    return result;
}

}  // namespace bayeswise::exact
