#include "tables/text/numerals.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#endif

namespace bayeswise::tables {

namespace {

using numeral_detail::is_digit;
using numeral_detail::kExactLimit;
using numeral_detail::kPowersOfTen;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equals_lower(std::string_view text, std::string_view lowered) {
    if (text.size() != lowered.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (lower(text[i]) != lowered[i]) return false;
    return true;
}

// A correctly rounded double of a number that is already known to be well formed (with '.' as mark).
// Returns false when the value overflows; what underflows is zero.
bool rounded(const char* begin, const char* end, long magnitude, double& value) {
#if defined(__cpp_lib_to_chars)
    const auto answer = std::from_chars(begin, end, value);
    if (answer.ec == std::errc()) return true;
    value = 0.0;
    return magnitude < 0;
#else
    std::istringstream stream(std::string(begin, end));
    stream.imbue(std::locale::classic());
    stream >> value;
    (void)magnitude;
    return std::isfinite(value);
#endif
}

struct Scan {
    uint64_t mantissa = 0;  // the first 19 significant digits
    int significant = 0;    // how many digits count
    long exponent = 0;      // of ten, for the mantissa read as an integer
    long magnitude = 0;     // position of the leading digit: value is about 10^magnitude
    std::size_t whole_digits = 0;
    bool leading_zero = false;
    bool mark = false;
    bool power = false;
    bool well_formed = false;
};

Scan scan(const char* p, const char* end, char decimal_mark) {
    Scan s;
    long fraction_digits = 0;
    std::size_t digits = 0;
    s.leading_zero = p < end && *p == '0';
    for (; p < end; ++p) {
        if (is_digit(*p)) {
            ++digits;
            if (s.mark)
                ++fraction_digits;
            else
                ++s.whole_digits;
            if (s.significant > 0 || *p != '0') {
                if (s.significant < 19) s.mantissa = s.mantissa * 10 + static_cast<uint64_t>(*p - '0');
                ++s.significant;
            }
        } else if (*p == decimal_mark && !s.mark) {
            s.mark = true;
        } else {
            break;
        }
    }
    if (digits == 0) return s;
    long power = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        s.power = true;
        ++p;
        const bool negative = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        if (p == end) return s;
        for (; p < end && is_digit(*p); ++p)
            if (power < 1000000) power = power * 10 + (*p - '0');
        if (negative) power = -power;
    }
    s.exponent = power - fraction_digits;
    s.magnitude = s.exponent + s.significant - 1;
    s.well_formed = p == end && !(s.power && !is_digit(end[-1]));
    return s;
}

Numeral infinity(double sign) {
    Numeral n;
    n.value = sign * std::numeric_limits<double>::infinity();
    n.valid = n.infinite = true;
    return n;
}

}  // namespace

Numeral read_any_number(std::string_view text, bool negative, char decimal_mark) {
    Numeral n;
    if (text.empty()) return n;
    const char first = text.front();
    if (!is_digit(first) && first != decimal_mark) {
        if (equals_lower(text, "inf") || equals_lower(text, "infinity")) return infinity(negative ? -1.0 : 1.0);
        return n;
    }
    const char* begin = text.data();
    const char* end = begin + text.size();
    const Scan s = scan(begin, end, decimal_mark);
    if (!s.well_formed) return n;
    n.integer = !s.mark && !s.power;
    n.padded = n.integer && s.leading_zero && s.whole_digits > 1;
    n.wide = n.integer && (s.significant > 16 || s.mantissa > kExactLimit);
    if (s.significant == 0) {
        n.value = 0.0;
    } else if (s.significant <= 19 && s.mantissa <= kExactLimit && s.exponent >= -22 && s.exponent <= 22) {
        // Both operands are exact doubles, so one rounding gives the nearest double.
        const double m = static_cast<double>(s.mantissa);
        n.value = s.exponent < 0 ? m / kPowersOfTen[-s.exponent] : m * kPowersOfTen[s.exponent];
    } else if (decimal_mark == '.') {
        if (!rounded(begin, end, s.magnitude, n.value)) return Numeral();
    } else {
        std::string pointed(text);
        for (char& c : pointed)
            if (c == decimal_mark) c = '.';
        if (!rounded(pointed.data(), pointed.data() + pointed.size(), s.magnitude, n.value)) return Numeral();
    }
    n.valid = true;
    if (negative) n.value = -n.value;
    return n;
}

double wide_value(std::string_view digits) {
    const Numeral n = read_number(digits, '.');
    return n.valid ? n.value : infinity(digits.front() == '-' ? -1.0 : 1.0).value;
}

NullWords::NullWords(const std::vector<std::string>& words) {
    for (const char blank : {' ', '\t', '\n', '\v', '\f', '\r'}) first_[static_cast<unsigned char>(blank)] = true;
    for (const std::string& word : words) {
        std::string lowered(trimmed(word));
        for (char& c : lowered) c = lower(c);
        if (lowered.empty()) {
            empty_word_ = true;
            continue;
        }
        longest_ = lowered.size() > longest_ ? lowered.size() : longest_;
        first_[static_cast<unsigned char>(lowered[0])] = true;
        if (lowered[0] >= 'a' && lowered[0] <= 'z') first_[lowered[0] - 32] = true;
        words_.push_back(lowered);
    }
}

bool NullWords::found(std::string_view text) const {
    text = trimmed(text);
    if (text.empty()) return empty_word_;
    if (text.size() > longest_ || !first_[static_cast<unsigned char>(text[0])]) return false;
    for (const std::string& word : words_)
        if (equals_lower(text, word)) return true;
    return false;
}

}  // namespace bayeswise::tables
