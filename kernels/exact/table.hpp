// A table of exact sums: every entry is an integer in base 2^32, all entries share one window of limbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayeswise::exact {

// entry i = sum over k of digits[i * limbs + k] * 2^(32 * (low + k)); all digits but the top one lie in [0, 2^32),
// the top one in [-2^31, 2^31).
struct Digits {
    std::vector<int64_t> digits;
    int low = 0;
    int limbs = 1;
};

// Without top limbs that only repeat the sign below them, and without bottom limbs that are zero everywhere: equal sums
// have equal digits. All zero: no limbs at all.
void trim(Digits& exact);

// Canonical digits of some entries, where they lie.
struct DigitsView {
    const int64_t* digits;
    int low, limbs;
};

// left + sign * right for each of so many entries, carried but not trimmed; sign is 1 or -1.
Digits added(const DigitsView& left, const DigitsView& right, std::size_t entries, int sign);

// Limbs of any size, (entries, limbs), with carries moved up.
Digits carried(const int64_t* limbs, std::size_t n_entries, std::size_t n_limbs, int low);

class ExactTable {
public:
    explicit ExactTable(std::size_t entries) : entries_(entries) {}

    // entry += value * 2^shift, for any finite value.
    void add(std::size_t entry, double value, int shift = 0);

    // entry += units * 2^exponent.
    void add_integer(std::size_t entry, int64_t units, int exponent);

    // entry += x * y and entry += x * y * z, also where the double product would over- or underflow.
    void add_product(std::size_t entry, double x, double y);
    void add_product(std::size_t entry, double x, double y, double z);

    // entry += sign * (an entry of other), for sign 1 or -1.
    void add_digits(std::size_t entry, const Digits& other, std::size_t other_entry, int sign);

    // The carried digits; the table is empty afterwards.
    Digits take();

private:
    void add_magnitude(std::size_t entry, bool negative, uint64_t magnitude, int exponent);
    void widen(int first, int last);
    void carry();

    std::size_t entries_;
    std::vector<int64_t> limbs_;  // (entries, width)
    int low_ = 0;
    int width_ = 0;
    uint64_t additions_ = 0;  // since the last carry; each adds less than 2^32 to a limb
};

}  // namespace bayeswise::exact
