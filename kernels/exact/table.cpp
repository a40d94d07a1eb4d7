#include "exact/table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exact/arithmetic.hpp"

namespace bayeswise::exact {

namespace {

constexpr int64_t kDigitMask = 0xffffffff;

// A carried limb is below 2^32 and each addition adds less than 2^32: 2^30 additions stay below 2^63.
constexpr uint64_t kAdditionsBeforeCarry = uint64_t{1} << 30;

constexpr int floor_divide_by_32(int exponent) { return exponent >= 0 ? exponent / 32 : -((31 - exponent) / 32); }

// Whether the limb is what the sign of the limb below it would extend to, in every entry.
bool repeats_sign(const Digits& exact, std::size_t limb) {
    for (std::size_t at = limb; at < exact.digits.size(); at += static_cast<std::size_t>(exact.limbs))
        if (exact.digits[at] != -(exact.digits[at - 1] >> 31)) return false;
    return true;
}

bool is_zero(const Digits& exact, std::size_t limb) {
    for (std::size_t at = limb; at < exact.digits.size(); at += static_cast<std::size_t>(exact.limbs))
        if (exact.digits[at]) return false;
    return true;
}

}  // namespace

void trim(Digits& exact) {
    const std::size_t limbs = static_cast<std::size_t>(exact.limbs);
    std::size_t first = 0, last = limbs;
    while (first < last && is_zero(exact, first)) ++first;
    if (first == last) {
        exact = {{}, 0, 0};
        return;
    }
    while (last > first + 1 && repeats_sign(exact, last - 1)) {
        --last;
        for (std::size_t at = last - 1; at < exact.digits.size(); at += limbs)
            exact.digits[at] = static_cast<int32_t>(static_cast<uint32_t>(exact.digits[at]));
    }
    if (last - first == limbs) return;
    std::size_t kept = 0;
    for (std::size_t entry = 0; entry < exact.digits.size(); entry += limbs)
        for (std::size_t k = first; k < last; ++k) exact.digits[kept++] = exact.digits[entry + k];
    exact.digits.resize(kept);
    exact.low += static_cast<int>(first);
    exact.limbs = static_cast<int>(last - first);
}

Digits added(const DigitsView& left, const DigitsView& right, std::size_t entries, int sign) {
    const int low = std::min(left.low, right.low);
    const int high = std::max(left.low + left.limbs, right.low + right.limbs);
    const int limbs = high - low + 1;  // one for the carry
    Digits sum = {std::vector<int64_t>(entries * static_cast<std::size_t>(limbs)), low, limbs};
    int64_t* limb = sum.digits.data();
    for (std::size_t entry = 0; entry < entries; ++entry, limb += limbs) {
        for (int k = 0; k < left.limbs; ++k) limb[left.low - low + k] += left.digits[entry * left.limbs + k];
        for (int k = 0; k < right.limbs; ++k) limb[right.low - low + k] += sign * right.digits[entry * right.limbs + k];
        for (int k = 0; k + 1 < limbs; ++k) {
            limb[k + 1] += limb[k] >> 32;
            limb[k] &= kDigitMask;
        }
    }
    return sum;
}

Digits carried(const int64_t* limbs, std::size_t n_entries, std::size_t n_limbs, int low) {
    const std::size_t wider = n_limbs + 2;  // no carry is lost
    Digits exact = {std::vector<int64_t>(n_entries * wider), low, static_cast<int>(wider)};
    int64_t* digit = exact.digits.data();
    for (std::size_t entry = 0; entry < n_entries; ++entry) {
        int64_t carry = 0;
        for (std::size_t k = 0; k < n_limbs; ++k) {
            carry += *limbs++;
            *digit++ = carry & kDigitMask;
            carry >>= 32;
        }
        *digit++ = carry & kDigitMask;
        *digit++ = carry >> 32;
    }
    return exact;
}

void ExactTable::add(std::size_t entry, double value, int shift) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const bool negative = bits >> 63;
    const int biased = static_cast<int>(bits >> 52) & 0x7ff;
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    if (biased == 0) {
        if (fraction) add_magnitude(entry, negative, fraction, shift - 1074);
    } else {
        add_magnitude(entry, negative, fraction | (uint64_t{1} << 52), shift + biased - 1075);
    }
}

void ExactTable::add_integer(std::size_t entry, int64_t units, int exponent) {
    if (units == 0) return;
    const auto magnitude = static_cast<uint64_t>(units);
    add_magnitude(entry, units < 0, units < 0 ? 0 - magnitude : magnitude, exponent);
}

void ExactTable::add_product(std::size_t entry, double x, double y) {
    const Scaled a = scaled(x), b = scaled(y);
    const TwoTerms product = two_product(a.fraction, b.fraction);
    add(entry, product.high, a.exponent + b.exponent);
    add(entry, product.low, a.exponent + b.exponent);
}

void ExactTable::add_product(std::size_t entry, double x, double y, double z) {
    const Scaled a = scaled(x), b = scaled(y), c = scaled(z);
    const int exponent = a.exponent + b.exponent + c.exponent;
    const TwoTerms product = two_product(a.fraction, b.fraction);
    for (const double term : {product.high, product.low}) {
        const TwoTerms part = two_product(term, c.fraction);
        add(entry, part.high, exponent);
        add(entry, part.low, exponent);
    }
}

void ExactTable::add_digits(std::size_t entry, const Digits& other, std::size_t other_entry, int sign) {
    const int64_t* digit = other.digits.data() + other_entry * other.limbs;
    for (int k = 0; k < other.limbs; ++k) add_integer(entry, sign * digit[k], 32 * (other.low + k));
}

void ExactTable::add_magnitude(std::size_t entry, bool negative, uint64_t magnitude, int exponent) {
    const int first = floor_divide_by_32(exponent);
    if (first < low_ || first + 3 > low_ + width_) widen(first, first + 3);
    const int shift = exponent - 32 * first;
    const uint64_t above = magnitude >> (32 - shift);
    const int64_t parts[3] = {
        static_cast<int64_t>((magnitude << shift) & kDigitMask),
        static_cast<int64_t>(above & kDigitMask),
        static_cast<int64_t>(above >> 32),
    };
    int64_t* limb = limbs_.data() + entry * width_ + (first - low_);
    const int64_t sign = negative ? -1 : 1;
    for (int k = 0; k < 3; ++k) limb[k] += sign * parts[k];
    if (++additions_ == kAdditionsBeforeCarry) carry();
}

// The window grows to hold limbs first .. last - 1. It never shrinks: one wide value widens the whole table.
void ExactTable::widen(int first, int last) {
    const int low = width_ ? std::min(first, low_) : first;
    const int high = width_ ? std::max(last, low_ + width_) : last;
    const int width = high - low;
    std::vector<int64_t> wider(entries_ * static_cast<std::size_t>(width));
    for (std::size_t entry = 0; width_ && entry < entries_; ++entry)
        std::copy_n(limbs_.data() + entry * width_, width_, wider.data() + entry * width + (low_ - low));
    limbs_ = std::move(wider);
    low_ = low;
    width_ = width;
}

// Brings every limb but the top one into [0, 2^32); a table whose top ones leave [-2^31, 2^31) gets one more.
void ExactTable::carry() {
    bool top_fits = true;
    for (std::size_t entry = 0; entry < entries_; ++entry) {
        int64_t* limb = limbs_.data() + entry * width_;
        for (int k = 0; k + 1 < width_; ++k) {
            limb[k + 1] += limb[k] >> 32;
            limb[k] &= kDigitMask;
        }
        const int64_t top = limb[width_ - 1];
        top_fits = top_fits && top == static_cast<int32_t>(top);
    }
    additions_ = 1;
    if (top_fits) return;
    widen(low_, low_ + width_ + 1);
    carry();
}

Digits ExactTable::take() {
    if (width_ == 0) widen(0, 1);
    carry();
    return {std::exchange(limbs_, {}), low_, std::exchange(width_, 0)};
}

}  // namespace bayeswise::exact
