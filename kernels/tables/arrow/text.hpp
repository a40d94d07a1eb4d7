// Dates, times and decimals of Arrow columns, written as ISO 8601 and as plain decimals.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tables/cells.hpp"

namespace bayeswise::tables {

std::string date_text(int64_t days);
// Units per second: 1, 1000, 1e6 or 1e9; the fraction is left out if it is zero.
std::string time_text(int64_t units, int64_t per_second);
std::string timestamp_text(int64_t units, int64_t per_second, bool zoned);
std::string duration_text(int64_t units, int64_t per_second);
std::string decimal_text(const unsigned char* little_endian, int n_bytes, int scale);

enum class Clock : uint8_t { date, milliseconds_date, time, timestamp, zoned_timestamp, duration };

template <class T> struct TemporalView {
    NumberView<T> units;
    Clock clock;
    int64_t per_second;

    template <class Sink> void visit(Sink& sink) const {
        units.validity.visit(sink, units.n_rows,
                             [&](int64_t row) { sink.text(row, text(static_cast<int64_t>(units.value(row)))); });
    }
    std::string text(int64_t value) const {
        switch (clock) {
            case Clock::date: return date_text(value);
            case Clock::milliseconds_date: return timestamp_text(value, 1000, false).substr(0, 10);
            case Clock::time: return time_text(value, per_second);
            case Clock::duration: return duration_text(value, per_second);
            default: return timestamp_text(value, per_second, clock == Clock::zoned_timestamp);
        }
    }
};

struct DecimalView {
    const unsigned char* data;
    int n_bytes;
    int scale;
    int64_t n_rows;
    Validity validity;

    template <class Sink> void visit(Sink& sink) const {
        validity.visit(sink, n_rows, [&](int64_t row) {
            const std::string digits = decimal_text(data + row * n_bytes, n_bytes, scale);
            if (scale > 0)
                sink.text(row, digits);
            else if (digits.size() < 19)
                sink.integer(row, std::stoll(digits));
            else
                sink.wide_integer(row, digits);
        });
    }
};

}  // namespace bayeswise::tables
