// Cells and what is made of them. A view knows where a column's cells are and shows them one by one to a sink:
//     null(row) text(row, s) integer(row, i) wide_integer(row, digits) real(row, x) boolean(row, b) opaque(row)
// Every view meets every sink, by templates, so the inner loops have no virtual calls.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tables/levels.hpp"
#include "tables/profiler.hpp"
#include "tables/text/numerals.hpp"

namespace bayeswise::tables {

struct InvalidCell {
    int64_t row;  // within the column
    std::string text;
};

// How numbers are written, as far as it says whether they are numbers at all.
enum Spelling : int { kPadded = 1, kWide = 2, kNotInteger = 4 };

// To doubles: NaN where there is no number; invalid cells hold something else.
struct NumbersSink {
    double* out;
    int64_t stride;
    const TextRules& rules;
    std::vector<InvalidCell> invalid;
    int spelling = 0;       // of all texts together
    int64_t first_row = 0;  // where the cells begin that invalid ones are counted from

    double& at(int64_t row) { return out[row * stride]; }
    void null(int64_t row) { at(row) = std::numeric_limits<double>::quiet_NaN(); }
    void text(int64_t row, std::string_view s) {
        if (rules.null_words.contains(s)) {
            null(row);
            return;
        }
        const Numeral n = read_number(s, rules.decimal_mark);
        if (n.valid) {
            at(row) = n.value;
            spelling |= n.padded * kPadded | n.wide * kWide | !n.integer * kNotInteger;
            return;
        }
        null(row);
        invalid.push_back({first_row + row, std::string(s)});
    }
    void integer(int64_t row, int64_t i) { at(row) = static_cast<double>(i); }
    void wide_integer(int64_t row, std::string_view digits) { at(row) = wide_value(digits); }
    void real(int64_t row, double x) { at(row) = x; }
    void boolean(int64_t row, bool b) { at(row) = b ? 1.0 : 0.0; }
    void opaque(int64_t row) {
        null(row);
        invalid.push_back({first_row + row, "(nested or binary)"});
    }
};

// To codes of levels: -1 where there is no value.
struct LabelsSink {
    int32_t* out;
    const TextRules& rules;
    Levels& levels;
    int32_t boolean_codes[2] = {-1, -1};

    void null(int64_t row) { out[row] = -1; }
    void text(int64_t row, std::string_view s) { out[row] = rules.null_words.contains(s) ? -1 : levels.of_text(s); }
    void integer(int64_t row, int64_t i) { out[row] = levels.of_bits(Tag::integer, static_cast<uint64_t>(i)); }
    void wide_integer(int64_t row, std::string_view digits) { out[row] = levels.of_text(digits, Tag::wide_integer); }
    void real(int64_t row, double x) {
        if (std::isnan(x))
            null(row);
        else
            out[row] = levels.of_bits(Tag::real, real_bits(x));
    }
    void boolean(int64_t row, bool b) {
        int32_t& code = boolean_codes[b];
        if (code < 0) code = levels.of_bits(Tag::boolean, b ? 1 : 0);
        out[row] = code;
    }
    void opaque(int64_t) { throw std::domain_error("lists, structs and bytes are not labels"); }
};

constexpr Place kNowhere = {INT64_MAX, -1};  // after all examples of invalid cells

// Into a profile, which is told the cells' position in the whole table.
struct ProfileSink {
    Profiler& profiler;
    const TextRules& rules;
    int64_t first_row;
    const int64_t* lines;  // per row, or null where the table has no lines

    Place place(int64_t row) const { return {first_row + row, lines ? lines[row] : -1}; }
    void null(int64_t) { profiler.null(); }
    void text(int64_t row, std::string_view s) { profiler.text(s, rules, place(row)); }
    void integer(int64_t, int64_t i) { profiler.integer(i); }
    void wide_integer(int64_t, std::string_view digits) { profiler.wide_integer(digits); }
    void real(int64_t, double x) { profiler.real(x); }
    void boolean(int64_t, bool b) { profiler.boolean(b); }
    void opaque(int64_t row) { profiler.opaque(place(row)); }
};

// What kinds of values a column of Python objects holds.
struct KindsSink {
    int64_t nulls = 0, texts = 0, integers = 0, reals = 0, booleans = 0;

    void null(int64_t) { ++nulls; }
    void text(int64_t, std::string_view) { ++texts; }
    void integer(int64_t, int64_t) { ++integers; }
    void wide_integer(int64_t, std::string_view) { ++integers; }
    void real(int64_t, double) { ++reals; }
    void boolean(int64_t, bool) { ++booleans; }
    void opaque(int64_t) {}
};

// A value taken out of its column: the entries of a dictionary.
struct Value {
    enum class Kind : uint8_t { null, text, integer, wide_integer, real, boolean, opaque } kind = Kind::null;
    int64_t integer = 0;
    double real = 0.0;
    std::string text;
};

struct ValuesSink {
    std::vector<Value> values;

    void null(int64_t) { values.emplace_back(); }
    void text(int64_t, std::string_view s) { values.push_back({Value::Kind::text, 0, 0.0, std::string(s)}); }
    void integer(int64_t, int64_t i) { values.push_back({Value::Kind::integer, i, 0.0, {}}); }
    void wide_integer(int64_t, std::string_view s) {
        values.push_back({Value::Kind::wide_integer, 0, 0.0, std::string(s)});
    }
    void real(int64_t, double x) { values.push_back({Value::Kind::real, 0, x, {}}); }
    void boolean(int64_t, bool b) { values.push_back({Value::Kind::boolean, b, 0.0, {}}); }
    void opaque(int64_t) { values.push_back({Value::Kind::opaque, 0, 0.0, {}}); }
};

// To values, with null words taken out.
struct TextsSink : ValuesSink {
    const TextRules& rules;
    explicit TextsSink(const TextRules& text_rules) : rules(text_rules) {}
    void text(int64_t row, std::string_view s) {
        if (rules.null_words.contains(s))
            null(row);
        else
            ValuesSink::text(row, s);
    }
};

template <class Sink> void show(Sink& sink, int64_t row, const Value& value) {
    switch (value.kind) {
        case Value::Kind::null: sink.null(row); break;
        case Value::Kind::text: sink.text(row, value.text); break;
        case Value::Kind::integer: sink.integer(row, value.integer); break;
        case Value::Kind::wide_integer: sink.wide_integer(row, value.text); break;
        case Value::Kind::real: sink.real(row, value.real); break;
        case Value::Kind::boolean: sink.boolean(row, value.integer != 0); break;
        case Value::Kind::opaque: sink.opaque(row); break;
    }
}

// One column of some rows, whatever it is made of.
class Column {
public:
    virtual ~Column() = default;
    virtual void show_to(NumbersSink& sink) const = 0;
    virtual void show_to(LabelsSink& sink) const = 0;
    virtual void show_to(ProfileSink& sink) const = 0;
    virtual void show_to(TextsSink& sink) const = 0;
    virtual void show_to(KindsSink& sink) const = 0;
    virtual void show_to(ValuesSink& sink) const = 0;

    int64_t n_rows = 0;
    const int64_t* lines = nullptr;     // (n_rows), if the cells come from lines of text
    std::shared_ptr<const void> owner;  // keeps the cells alive
    bool needs_interpreter = false;     // the cells are Python objects
};

template <class View> class ColumnOf final : public Column {
public:
    explicit ColumnOf(View view) : view_(std::move(view)) {}
    void show_to(NumbersSink& sink) const override { view_.visit(sink); }
    void show_to(LabelsSink& sink) const override { view_.visit(sink); }
    void show_to(ProfileSink& sink) const override { view_.visit(sink); }
    void show_to(TextsSink& sink) const override { view_.visit(sink); }
    void show_to(KindsSink& sink) const override { view_.visit(sink); }
    void show_to(ValuesSink& sink) const override { view_.visit(sink); }

private:
    View view_;
};

template <class View> std::unique_ptr<Column> column_of(View view, int64_t n_rows) {
    auto column = std::make_unique<ColumnOf<View>>(std::move(view));
    column->n_rows = n_rows;
    return column;
}

// Which rows hold a value: an Arrow bitmap, a NumPy mask (true = missing), or all.
struct Validity {
    const uint8_t* bitmap = nullptr;
    int64_t bit_offset = 0;
    const uint8_t* mask = nullptr;
    int64_t mask_stride = 1;

    bool all_present() const { return !bitmap && !mask; }
    bool present(int64_t row) const {
        if (bitmap) return (bitmap[(row + bit_offset) >> 3] >> ((row + bit_offset) & 7)) & 1;
        return !mask || !mask[row * mask_stride];
    }

    // Calls show(row) for each row that is present, and tells the sink of the others.
    template <class Sink, class Show> void visit(Sink& sink, int64_t n_rows, Show show) const {
        if (all_present()) {
            for (int64_t row = 0; row < n_rows; ++row) show(row);
            return;
        }
        for (int64_t row = 0; row < n_rows; ++row) {
            if (present(row))
                show(row);
            else
                sink.null(row);
        }
    }
};

template <class T> struct NumberView {
    const char* data;
    int64_t stride;  // in bytes
    int64_t n_rows;
    Validity validity;

    T value(int64_t row) const {
        T v;
        std::memcpy(&v, data + row * stride, sizeof v);
        return v;
    }
    template <class Sink> void visit(Sink& sink) const {
        if constexpr (std::is_same_v<T, bool> && std::is_same_v<Sink, ProfileSink>)
            if (validity.all_present()) return sink.profiler.booleans_of(n_rows, n_true());
        validity.visit(sink, n_rows, [&](int64_t row) { show(sink, row, value(row)); });
    }
    int64_t n_true() const {
        int64_t n = 0;
        for (int64_t row = 0; row < n_rows; ++row) n += value(row) ? 1 : 0;
        return n;
    }
    template <class Sink> static void show(Sink& sink, int64_t row, T v) {
        if constexpr (std::is_floating_point_v<T>) {
            if (v != v)
                sink.null(row);
            else
                sink.real(row, static_cast<double>(v));
        } else if constexpr (std::is_same_v<T, bool>) {
            sink.boolean(row, v);
        } else if constexpr (std::is_same_v<T, uint64_t>) {
            if (v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
                sink.wide_integer(row, std::to_string(v));
            else
                sink.integer(row, static_cast<int64_t>(v));
        } else {
            sink.integer(row, static_cast<int64_t>(v));
        }
    }
};

// Codes into a list of values: an Arrow dictionary, pandas categories.
template <class T> struct CodedView {
    NumberView<T> codes;
    std::shared_ptr<const std::vector<Value>> values;

    // Calls show(row, entry) for each row that has an entry, and tells the sink of the others.
    template <class Sink, class Show> void visit_entries(Sink& sink, Show show) const {
        const std::size_t size = values->size();
        codes.validity.visit(sink, codes.n_rows, [&](int64_t row) {
            const auto entry = static_cast<std::size_t>(static_cast<int64_t>(codes.value(row)));  // large if negative
            if (entry < size)
                show(row, entry);
            else
                sink.null(row);
        });
    }
    template <class Sink> void visit(Sink& sink) const {
        visit_entries(sink, [&](int64_t row, std::size_t entry) { tables::show(sink, row, (*values)[entry]); });
    }
    // Each entry of the dictionary is looked up once.
    void visit(LabelsSink& sink) const {
        constexpr int32_t kUnknown = -2;
        std::vector<int32_t> memo(values->size(), kUnknown);
        visit_entries(sink, [&](int64_t row, std::size_t entry) {
            if (memo[entry] == kUnknown) {
                tables::show(sink, row, (*values)[entry]);
                memo[entry] = sink.out[row];
            }
            sink.out[row] = memo[entry];
        });
    }
    // The cells of an entry that is a text are counted together, unless the place of a cell matters.
    void visit(ProfileSink& sink) const {
        struct Known {
            uint64_t times = 0;  // that the profiler has not been told of
            bool is_shown = false, invalid = false;
        };
        std::vector<Known> known(values->size());
        visit_entries(sink, [&](int64_t row, std::size_t at) {
            Known& entry = known[at];
            if (entry.is_shown && !(entry.invalid && sink.profiler.may_keep_example(sink.place(row)))) {
                ++entry.times;
                return;
            }
            const uint64_t invalid_before = sink.profiler.invalid;
            tables::show(sink, row, (*values)[at]);
            entry.is_shown = (*values)[at].kind == Value::Kind::text;
            entry.invalid = sink.profiler.invalid > invalid_before;
        });
        for (std::size_t k = 0; k < known.size(); ++k)
            if (known[k].times > 0) sink.profiler.text((*values)[k].text, sink.rules, kNowhere, known[k].times);
    }
};

}  // namespace bayeswise::tables
