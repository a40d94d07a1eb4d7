#include "tables/arrow/text.hpp"

#include <cstdio>
#include <vector>

namespace bayeswise::tables {

namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

std::string fraction(int64_t part, int64_t per_second) {
    if (part == 0) return {};
    std::string digits = std::to_string(per_second + part);  // 1 and the zero-padded part
    digits[0] = '.';
    return digits;
}

}  // namespace

// Days since 1970-01-01 to the proleptic Gregorian calendar, whose eras of 400 years begin on 1 March.
std::string date_text(int64_t days) {
    const int64_t z = days + 719468, era = floor_div(z, 146097), day_of_era = z - era * 146097;
    const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted = (5 * day_of_year + 2) / 153, day = day_of_year - (153 * shifted + 2) / 5 + 1;
    const int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    const int64_t year = year_of_era + era * 400 + (month <= 2);
    char text[40];
    std::snprintf(text, sizeof text, "%04lld-%02lld-%02lld", static_cast<long long>(year),
                  static_cast<long long>(month), static_cast<long long>(day));
    return text;
}

std::string time_text(int64_t units, int64_t per_second) {
    const int64_t seconds = floor_div(units, per_second);
    char text[40];
    std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
    return text + fraction(units - seconds * per_second, per_second);
}

std::string timestamp_text(int64_t units, int64_t per_second, bool zoned) {
    const int64_t per_day = 86400 * per_second, days = floor_div(units, per_day);
    return date_text(days) + " " + time_text(units - days * per_day, per_second) + (zoned ? "+00:00" : "");
}

std::string duration_text(int64_t units, int64_t per_second) {
    const int64_t seconds = units / per_second, part = units % per_second;
    const std::string sign = units < 0 ? "-" : "";
    return sign + std::to_string(seconds < 0 ? -seconds : seconds) + fraction(part < 0 ? -part : part, per_second) +
           " s";
}

std::string decimal_text(const unsigned char* little_endian, int n_bytes, int scale) {
    std::vector<unsigned char> magnitude(little_endian, little_endian + n_bytes);
    const bool negative = (magnitude.back() & 0x80) != 0;
    if (negative) {  // two's complement
        unsigned carry = 1;
        for (unsigned char& byte : magnitude) {
            const unsigned sum = static_cast<unsigned char>(~byte) + carry;
            byte = static_cast<unsigned char>(sum);
            carry = sum >> 8;
        }
    }
    std::string reversed;
    bool rest = true;
    while (rest) {  // long division by ten
        unsigned remainder = 0;
        rest = false;
        for (int i = n_bytes - 1; i >= 0; --i) {
            const unsigned current = remainder * 256 + magnitude[static_cast<std::size_t>(i)];
            magnitude[static_cast<std::size_t>(i)] = static_cast<unsigned char>(current / 10);
            remainder = current % 10;
            rest |= current >= 10;
        }
        reversed.push_back(static_cast<char>('0' + remainder));
    }
    for (int i = scale; i < 0; ++i) reversed.insert(reversed.begin(), '0');
    while (static_cast<int>(reversed.size()) <= scale) reversed.push_back('0');
    std::string text = negative ? "-" : "";
    for (std::size_t i = reversed.size(); i-- > 0;) {
        text.push_back(reversed[i]);
        if (scale > 0 && i == static_cast<std::size_t>(scale)) text.push_back('.');
    }
    return text;
}

}  // namespace bayeswise::tables
