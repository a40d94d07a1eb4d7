// Means, standard deviations and scatters of exact sums, each rounded once, where the weights are counts of rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/bits.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::exact {

namespace {

using Digits = nb::ndarray<const int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Exponents = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Wide = unsigned __int128;

constexpr uint64_t kDigitMask = 0xffffffff;
constexpr int64_t kMostHalvings = 1100;          // 2^-1074 is the least float
constexpr int64_t kMostRows = int64_t{1} << 31;  // so that a count times a count is below 2^62

constexpr int floor_divide_by_32(int bit) { return bit >= 0 ? bit / 32 : -((31 - bit) / 32); }

// magnitude * 2^(32 low), with a sign; limbs of 32 bits, the lowest first.
struct Number {
    std::vector<uint32_t> limbs;
    int low = 0;
    bool negative = false;

    // From digits of which only the top one has a sign.
    void read(const int64_t* digits, int n_limbs, int lowest) {
        limbs.resize(static_cast<std::size_t>(n_limbs));
        low = lowest;
        negative = n_limbs > 0 && digits[n_limbs - 1] < 0;
        int64_t carry = 0;
        for (int k = 0; k < n_limbs; ++k) {
            carry += negative ? -digits[k] : digits[k];
            limbs[static_cast<std::size_t>(k)] = static_cast<uint32_t>(carry & static_cast<int64_t>(kDigitMask));
            carry >>= 32;
        }
        trim();
    }

    void trim() {
        while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    }

    // From two's complement below 0 to the magnitude, with the other sign.
    void turn() {
        negative = !negative;
        uint64_t carry = 1;
        for (uint32_t& limb : limbs) {
            carry += static_cast<uint32_t>(~limb);
            limb = static_cast<uint32_t>(carry & kDigitMask);
            carry >>= 32;
        }
    }

    bool is_zero() const { return limbs.empty(); }

    int bits() const {
        const int n = static_cast<int>(limbs.size());
        return 32 * n - (bits::leading_zeros(limbs.back()) - 32);
    }

    uint64_t limb(int k) const {
        return k < 0 || k >= static_cast<int>(limbs.size()) ? 0 : limbs[static_cast<std::size_t>(k)];
    }

    // 64 bits from some bit on; zeros beyond both ends.
    uint64_t word(int bit) const {
        const int first = floor_divide_by_32(bit), shift = bit - 32 * first;
        const uint64_t below = limb(first) | limb(first + 1) << 32;
        return shift ? below >> shift | limb(first + 2) << (64 - shift) : below;
    }

    bool any_below(int bit) const {
        for (int k = 0; k < static_cast<int>(limbs.size()) && 32 * k < bit; ++k) {
            const int left = bit - 32 * k;
            const uint64_t mask = left >= 32 ? kDigitMask : (uint64_t{1} << left) - 1;
            if (limbs[static_cast<std::size_t>(k)] & mask) return true;
        }
        return false;
    }
};

// A number in 1 .. 2^62 to divide by, again and again: a step is two products instead of a division of 128 bits (Moeller
// and Granlund, "Improved division by invariant integers", 2011).
class Divisor {
public:
    void set(uint64_t number) {
        if (number == number_) return;
        number_ = number;
        shift_ = bits::leading_zeros(number);
        shifted_ = number << shift_;
        reciprocal_ = static_cast<uint64_t>(~Wide{0} / shifted_);  // less 2^64
    }

    // Steps divide by the number shifted by so many bits: its top bit is set.
    int shift() const { return shift_; }

    // (rest, word) / number, for a rest below it, and the new rest.
    uint64_t step(uint64_t word, uint64_t& rest) const {
        const Wide estimate = static_cast<Wide>(reciprocal_) * rest + (static_cast<Wide>(rest) << 64 | word);
        uint64_t found = static_cast<uint64_t>(estimate >> 64) + 1;
        rest = word - found * shifted_;
        if (rest > static_cast<uint64_t>(estimate)) {
            --found;
            rest += shifted_;
        }
        if (rest >= shifted_) {
            ++found;
            rest -= shifted_;
        }
        return found;
    }

private:
    uint64_t number_ = 0, shifted_ = 0, reciprocal_ = 0;
    int shift_ = 0;
};

// A number above 0 from its leading bits; `more` says that something lies below.
struct Leading {
    Wide word;
    int exponent;  // of the lowest bit
    bool more;

    int bits() const {
        const uint64_t high = static_cast<uint64_t>(word >> 64);
        return high ? 128 - bits::leading_zeros(high) : 64 - bits::leading_zeros(static_cast<uint64_t>(word));
    }
};

// |number| / divisor, in 127 or 128 bits.
Leading quotient(const Number& number, const Divisor& divisor) {
    const int start = number.bits() - 191;
    uint64_t rest = number.word(start + 128);  // of 63 bits
    const uint64_t high = divisor.step(number.word(start + 64), rest);
    const uint64_t low = divisor.step(number.word(start), rest);
    return {static_cast<Wide>(high) << 64 | low, start + 32 * number.low + divisor.shift(),
            rest || number.any_below(start)};
}

// kept * 2^power, which is a double or infinite: std::ldexp, which is slower than adding to the exponent.
double scaled(double kept, int power) {
    uint64_t word;
    std::memcpy(&word, &kept, sizeof(word));
    const int exponent = static_cast<int>(word >> 52) + power;
    if (exponent <= 0 || exponent >= 2047) return std::ldexp(kept, power);
    word += static_cast<uint64_t>(static_cast<int64_t>(power)) << 52;
    std::memcpy(&kept, &word, sizeof(word));
    return kept;
}

// mantissa * 2^exponent, and a little more if `more`: the nearest double, ties to even. The mantissa's top bit is set.
double rounded(uint64_t mantissa, int exponent, bool more, bool negative) {
    const int top = exponent + 63;
    if (top > 1023)
        return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    const int kept_bits = top >= -1022 ? 53 : top + 1075;
    if (kept_bits < 0) return negative ? -0.0 : 0.0;
    const int drop = 64 - kept_bits;
    uint64_t kept = drop == 64 ? 0 : mantissa >> drop;
    const uint64_t rest = drop == 64 ? mantissa : mantissa & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (more || (kept & 1)))) ++kept;
    const double magnitude = scaled(static_cast<double>(kept), exponent + drop);
    return negative ? -magnitude : magnitude;
}

// The nearest double; if there is more, the leading bits are 54 or more.
double rounded(const Leading& q, bool negative) {
    const int shift = 128 - q.bits();
    const Wide word = q.word << shift;
    const bool more = q.more || static_cast<uint64_t>(word);
    return rounded(static_cast<uint64_t>(word >> 64), q.exponent - shift + 64, more, negative);
}

// number / (divisor 2^halvings)
double ratio(const Number& number, const Divisor& divisor, int64_t halvings = 0) {
    if (number.is_zero()) return 0.0;
    Leading q = quotient(number, divisor);
    q.exponent -= static_cast<int>(halvings);
    return rounded(q, number.negative);
}

// The integer root of a number of 125 or 126 bits.
uint64_t integer_root(Wide square) {
    const double leading = static_cast<double>(static_cast<uint64_t>(square >> 62));
    const double estimate = std::sqrt(leading) * 2147483648.0;
    uint64_t root = static_cast<uint64_t>(std::min(estimate, 9223372036854774784.0));
    const __int128 missing = static_cast<__int128>(square) - static_cast<__int128>(root) * root;  // below 2^77
    root += static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>(missing) / (2.0 * estimate)));
    while (static_cast<Wide>(root) * root > square) --root;
    while (static_cast<Wide>(root + 1) * (root + 1) <= square) ++root;
    return root;
}

double root_of_ratio(const Number& number, const Divisor& divisor) {
    if (number.is_zero()) return 0.0;
    const Leading q = quotient(number, divisor);
    int drop = q.bits() - 126;
    if ((q.exponent + drop) & 1) ++drop;
    const Wide square = q.word >> drop;
    const uint64_t root = integer_root(square);
    const bool more = q.more || square << drop != q.word || static_cast<Wide>(root) * root != square;
    return rounded(root << 1, (q.exponent + drop) / 2 - 1, more, false);
}

// into = number - high * count, exactly; high is finite.
void remainder(const Number& number, double high, uint64_t count, Number& into) {
    int exponent;
    const double fraction = std::frexp(std::abs(high), &exponent);
    const Wide product = static_cast<Wide>(static_cast<uint64_t>(std::ldexp(fraction, 53))) * count;
    const int bit = exponent - 53;
    const int low = std::min(number.low, floor_divide_by_32(bit));
    const int shift = bit - 32 * floor_divide_by_32(bit), at = floor_divide_by_32(bit) - low;
    const int above = number.low - low + static_cast<int>(number.limbs.size());
    std::vector<uint32_t>& limbs = into.limbs;
    limbs.assign(static_cast<std::size_t>(std::max(above, at + 5) + 1), 0);
    into.low = low;
    std::copy(number.limbs.begin(), number.limbs.end(), limbs.begin() + (number.low - low));
    // |number| - |high| count: their signs are the same, or the mean is zero
    int64_t borrow = 0;
    const Wide shifted = product << shift;  // below 2^(53 + 31 + 31)
    for (std::size_t k = static_cast<std::size_t>(at); k < limbs.size(); ++k) {
        const int place = static_cast<int>(k) - at;
        const int64_t part =
            place < 4 ? static_cast<int64_t>(static_cast<uint64_t>(shifted >> (32 * place)) & kDigitMask) : 0;
        const int64_t left = static_cast<int64_t>(limbs[k]) - part + borrow;
        limbs[k] = static_cast<uint32_t>(left & static_cast<int64_t>(kDigitMask));
        borrow = left >> 32;
    }
    into.negative = number.negative;
    if (borrow < 0) into.turn();  // the rounded mean was the larger one
    into.trim();
}

// into = count * cross - one * other.
void spread(const Number& one, const Number& other, const Number& cross, uint64_t count, Number& into) {
    const int low = std::min(cross.low, one.low + other.low);
    const std::size_t at_cross = static_cast<std::size_t>(cross.low - low);
    const std::size_t at_product = static_cast<std::size_t>(one.low + other.low - low);
    const std::size_t n = other.limbs.size();
    std::vector<uint32_t>& limbs = into.limbs;
    limbs.assign(std::max(at_cross + cross.limbs.size(), at_product + one.limbs.size() + n) + 2, 0);
    into.low = low;
    into.negative = cross.negative;
    uint64_t carry = 0;
    for (std::size_t k = 0; k < cross.limbs.size() || carry; ++k) {
        carry += count * cross.limb(static_cast<int>(k));
        limbs[at_cross + k] = static_cast<uint32_t>(carry & kDigitMask);
        carry >>= 32;
    }
    const bool adds = cross.negative != (one.negative != other.negative);
    for (std::size_t i = 0; i < one.limbs.size(); ++i) {
        uint64_t product = 0;
        int64_t over = 0;  // what goes up to the next limb: a carry, or a borrow below 0
        for (std::size_t k = at_product + i; k < limbs.size(); ++k) {
            const std::size_t j = k - at_product - i;
            if (j < n) product += static_cast<uint64_t>(one.limbs[i]) * other.limbs[j];
            const int64_t part = static_cast<int64_t>(product & kDigitMask);
            over += static_cast<int64_t>(limbs[k]) + (adds ? part : -part);
            limbs[k] = static_cast<uint32_t>(over & static_cast<int64_t>(kDigitMask));
            over >>= 32;
            product >>= 32;
            if (j >= n && product == 0 && over == 0) break;
        }
    }
    if (limbs.back() >> 31) into.turn();  // two's complement in limbs that have room for the sign
    into.trim();
}

// low = quotient - high, rounded, for the rounded quotient `high`; false if the leading bits do not tell.
bool low_of(const Leading& q, double high, bool negative, double& low) {
    const int n_left = q.bits() - 53;
    if (q.exponent + n_left + 52 < -1022) return false;  // high has fewer bits
    uint64_t word_of_high;
    std::memcpy(&word_of_high, &high, sizeof(word_of_high));
    const bool is_above = (static_cast<uint64_t>(q.word >> n_left) ^ word_of_high) << 12;  // the fractions differ
    const Wide one = static_cast<Wide>(1) << n_left;
    Leading left = {q.word & (one - 1), q.exponent, q.more};
    if (is_above) left.word = one - left.word - q.more;
    if (q.more && !(left.word >> 54)) return false;  // too much has cancelled
    low = left.word ? rounded(left, negative != is_above) : 0.0;
    return true;
}

template <class Work>
bool each_entry(const Counts& counts, Work work) {
    const nb::gil_scoped_release release;
    const std::size_t n_entries = counts.size();
    for (std::size_t entry = 0; entry < n_entries; ++entry) {
        const int64_t count = counts.data()[entry];
        if (count < 0 || count >= kMostRows || !work(entry, static_cast<uint64_t>(count))) return false;
    }
    return true;
}

template <class... Arrays>
void same_shape(const Counts& counts, const Arrays&... arrays) {
    const bool same = ((arrays.shape(0) == counts.shape(0) && arrays.shape(1) == counts.shape(1)) && ...);
    require(same, "sums, counts and answers differ in shape");
}

// high + low = total / count, 0 where the count is 0; false if a count or a mean is out of range.
bool exact_means(Floats high, Floats low, Digits total, int total_low, Counts counts) {
    same_shape(counts, high, low, total);
    const int n_limbs = static_cast<int>(total.shape(2));
    Number sum, rest;
    Divisor divisor;
    return each_entry(counts, [&](std::size_t entry, uint64_t count) {
        high.data()[entry] = low.data()[entry] = 0.0;
        if (count == 0) return true;
        sum.read(total.data() + entry * static_cast<std::size_t>(n_limbs), n_limbs, total_low);
        if (sum.is_zero()) return true;
        divisor.set(count);
        const Leading q = quotient(sum, divisor);
        const double mean = rounded(q, sum.negative);
        if (std::isinf(mean)) return false;
        high.data()[entry] = mean;
        if (!low_of(q, mean, sum.negative, low.data()[entry])) {
            remainder(sum, mean, count, rest);
            low.data()[entry] = ratio(rest, divisor);
        }
        return true;
    });
}

// sqrt((n sum x^2 - (sum x)^2) / (n (n - less))), 0 where n <= less; its square without `root`. False if a count is out of
// range or the spread is negative.
bool exact_spreads(Floats out, Digits total, int total_low, Digits squares, int squares_low, Counts counts, int less,
                   bool root) {
    same_shape(counts, out, total, squares);
    const int n_total = static_cast<int>(total.shape(2)), n_squares = static_cast<int>(squares.shape(2));
    Number sum, sum_of_squares, above;
    Divisor divisor;
    return each_entry(counts, [&](std::size_t entry, uint64_t count) {
        out.data()[entry] = 0.0;
        sum.read(total.data() + entry * static_cast<std::size_t>(n_total), n_total, total_low);
        sum_of_squares.read(squares.data() + entry * static_cast<std::size_t>(n_squares), n_squares, squares_low);
        if (sum_of_squares.negative) return false;
        spread(sum, sum, sum_of_squares, count, above);
        if (above.negative) return false;
        if (count <= static_cast<uint64_t>(less)) return true;
        divisor.set(count * (count - static_cast<uint64_t>(less)));
        out.data()[entry] = root ? root_of_ratio(above, divisor) : ratio(above, divisor);
        return true;
    });
}

// (n sum x_i x_j - sum x_i sum x_j) / (n 2^(e_i + e_j)) of each group and pair of columns, 0 where n is 0; false if a count
// is out of range.
bool exact_scatters(Floats out, Digits total, int total_low, Digits cross, int cross_low, Counts counts,
                    Exponents exponents) {
    const std::size_t n_groups = counts.shape(0), n_columns = exponents.shape(0);
    const std::size_t n_pairs = n_columns * (n_columns + 1) / 2;
    require(counts.shape(1) == 1 && total.shape(0) == n_groups && cross.shape(0) == n_groups &&
                out.shape(0) == n_groups && total.shape(1) == n_columns && cross.shape(1) == n_pairs &&
                out.shape(1) == n_pairs,
            "sums, products, counts and answers differ in shape");
    const int n_total = static_cast<int>(total.shape(2)), n_cross = static_cast<int>(cross.shape(2));
    for (std::size_t j = 0; j < n_columns; ++j)
        require(std::abs(exponents.data()[j]) <= kMostHalvings, "an exponent is none of a float");
    std::vector<Number> sums(n_columns);
    Number product, above;
    Divisor divisor;
    return each_entry(counts, [&](std::size_t group, uint64_t count) {
        double* to = out.data() + group * n_pairs;
        if (count == 0) {
            std::fill(to, to + n_pairs, 0.0);
            return true;
        }
        divisor.set(count);
        for (std::size_t j = 0; j < n_columns; ++j)
            sums[j].read(total.data() + (group * n_columns + j) * static_cast<std::size_t>(n_total), n_total,
                         total_low);
        const int64_t* digits = cross.data() + group * n_pairs * static_cast<std::size_t>(n_cross);
        for (std::size_t i = 0; i < n_columns; ++i)
            for (std::size_t j = 0; j <= i; ++j, digits += n_cross) {
                product.read(digits, n_cross, cross_low);
                spread(sums[i], sums[j], product, count, above);
                *to++ = ratio(above, divisor, exponents.data()[i] + exponents.data()[j]);
            }
        return true;
    });
}

}  // namespace

void bind_exact_quotients(nb::module_& m) {
    m.def("exact_means", &exact_means, "high"_a.noconvert(), "low"_a.noconvert(), "total"_a.noconvert(), "total_low"_a,
          "counts"_a.noconvert(), "high + low = total / count, each rounded once.");
    m.def("exact_spreads", &exact_spreads, "out"_a.noconvert(), "total"_a.noconvert(), "total_low"_a,
          "squares"_a.noconvert(), "squares_low"_a, "counts"_a.noconvert(), "less"_a, "root"_a,
          "Variances or standard deviations of exact sums, rounded once.");
    m.def("exact_scatters", &exact_scatters, "out"_a.noconvert(), "total"_a.noconvert(), "total_low"_a,
          "cross"_a.noconvert(), "cross_low"_a, "counts"_a.noconvert(), "exponents"_a.noconvert(),
          "Scatters of exact sums about their means, in units that are powers of two, rounded once.");
}

}  // namespace bayeswise::exact
