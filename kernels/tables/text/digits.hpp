// The fast path of reading numbers, inlined into the loops over cells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/bits.hpp"

namespace bayeswise::tables {

struct Numeral {
    double value = 0.0;
    bool valid = false;    // the text reads as a number (an infinite one included)
    bool integer = false;  // digits only, with or without a sign
    bool padded = false;   // an integer with leading zeros: 0007
    bool wide = false;     // an integer beyond 2^53, where doubles skip values
    bool infinite = false;
};

namespace numeral_detail {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr uint64_t kIntegerPowers[] = {1ull,
                                              10ull,
                                              100ull,
                                              1000ull,
                                              10000ull,
                                              100000ull,
                                              1000000ull,
                                              10000000ull,
                                              100000000ull,
                                              1000000000ull,
                                              10000000000ull,
                                              100000000000ull,
                                              1000000000000ull,
                                              10000000000000ull,
                                              100000000000000ull,
                                              1000000000000000ull,
                                              10000000000000000ull,
                                              100000000000000000ull,
                                              1000000000000000000ull,
                                              10000000000000000000ull};
inline constexpr double kSigns[] = {1.0, -1.0};
inline constexpr uint64_t kExactLimit = 1ull << 53;

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr uint64_t kZeros = 0x3030303030303030ull;  // "00000000"

inline uint64_t eight_bytes(const char* p) {
    uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

inline bool all_digits(uint64_t word) {
    constexpr uint64_t high = 0xF0F0F0F0F0F0F0F0ull;
    return ((word & high) | (((word + 0x0606060606060606ull) & high) >> 4)) == 0x3333333333333333ull;
}

// Pairs of digits, then pairs of pairs, then both halves, in one multiplication each.
inline uint64_t eight_digits(uint64_t word) {
    word -= kZeros;
    word = word * 10 + (word >> 8);
    constexpr uint64_t mask = 0x000000FF000000FFull;
    return ((word & mask) * (100 + (1000000ull << 32)) + ((word >> 16) & mask) * (1 + (10000ull << 32))) >> 32;
}

// Reads the digits at the front; how many there are differs from cell to cell, so there is no branch on it.
inline const char* leading_digits(const char* p, const char* end, uint64_t& mantissa) {
    if (end - p >= 8) {
        const uint64_t word = eight_bytes(p), x = word ^ kZeros;
        const uint64_t others = ((x + 0x7676767676767676ull) | x) & 0x8080808080808080ull;
        if (others != 0) {
            const int bits = bits::lowest(others) - 7;  // eight for each digit, at most 56
            mantissa = eight_digits((word << 1 << (63 - bits)) | (kZeros >> bits));
            return p + bits / 8;
        }
    }
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
    return p;
}

// Appends the digits [p, end) to the mantissa, eight at a time; bytes from `floor` on may be read.
inline bool append_digits(const char* floor, const char* p, const char* end, uint64_t& mantissa) {
    for (; end - p >= 8; p += 8) {
        const uint64_t word = eight_bytes(p);
        if (!all_digits(word)) return false;
        mantissa = mantissa * 100000000 + eight_digits(word);
    }
    const std::ptrdiff_t left = end - p;
    if (left > 0 && end - floor >= 8) {
        const uint64_t kept = ~uint64_t{0} << (8 * (8 - left));
        const uint64_t word = (eight_bytes(end - 8) & kept) | (kZeros & ~kept);
        if (!all_digits(word)) return false;
        mantissa = mantissa * kIntegerPowers[left] + eight_digits(word);
        return true;
    }
    for (; p < end && is_digit(*p); ++p) mantissa = mantissa * 10 + static_cast<uint64_t>(*p - '0');
    return p == end;
}
#else
inline const char* leading_digits(const char* p, const char* end, uint64_t& mantissa) {
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
    return p;
}

inline bool append_digits(const char*, const char* p, const char* end, uint64_t& mantissa) {
    for (; p < end && is_digit(*p); ++p) mantissa = mantissa * 10 + static_cast<uint64_t>(*p - '0');
    return p == end;
}
#endif

// The double nearest to w / 10^k, for w > 2^53 and k <= 19: a quotient of integers with its remainder tells how to round.
inline bool nearest_quotient(uint64_t w, int k, double& value) {
#if defined(__SIZEOF_INT128__)
    uint64_t divisor = kIntegerPowers[k];
    const int up = bits::leading_zeros(w), down = bits::leading_zeros(divisor);
    divisor <<= down;
    const unsigned __int128 dividend = static_cast<unsigned __int128>(w << up) << 63;
    const uint64_t quotient = static_cast<uint64_t>(dividend / divisor);  // 63 or 64 bits
    const bool inexact = static_cast<uint64_t>(dividend) != quotient * divisor;
    const int shift = 11 - bits::leading_zeros(quotient);  // leaves 53 bits
    const uint64_t rest = quotient & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
    uint64_t mantissa = quotient >> shift;
    mantissa += rest > half || (rest == half && (inexact || (mantissa & 1)));
    const uint64_t power_bits = static_cast<uint64_t>(1023 + shift + down - up - 63) << 52;
    double power_of_two;
    std::memcpy(&power_of_two, &power_bits, sizeof power_of_two);
    value = static_cast<double>(mantissa) * power_of_two;
    return true;
#else
    (void)w, (void)k, (void)value;
    return false;
#endif
}

// Digits with at most one mark, few enough for one exact division: nearly every number met in practice.
inline bool read_plain(const char* p, const char* end, char decimal_mark, Numeral& n) {
    const char* const begin = p;
    if (end - begin > 24) return false;
    uint64_t mantissa = 0;
    p = leading_digits(p, end, mantissa);
    const std::ptrdiff_t whole = p - begin;
    std::ptrdiff_t fraction = 0;
    n.integer = p == end;
    if (p < end) {
        if (*p != decimal_mark) return false;
        ++p;
        fraction = end - p;
        if ((mantissa == 0 ? 0 : whole) + fraction > 19 || !append_digits(begin, p, end, mantissa)) return false;
    }
    if (whole + fraction == 0 || whole > 19) return false;
    n.padded = n.integer && *begin == '0' && whole > 1;
    n.wide = n.integer && mantissa > kExactLimit;
    n.valid = true;
    if (fraction == 0)
        n.value = static_cast<double>(mantissa);
    else if (mantissa <= kExactLimit)
        n.value = static_cast<double>(mantissa) / kPowersOfTen[fraction];
    else
        n.valid = nearest_quotient(mantissa, static_cast<int>(fraction), n.value);
    return n.valid;
}

}  // namespace numeral_detail

}  // namespace bayeswise::tables
