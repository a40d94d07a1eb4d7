#include "tables/arrow/stream.hpp"

#include <cstring>
#include <stdexcept>

#include "tables/arrow/text.hpp"
#include "tables/short_texts.hpp"

namespace bayeswise::tables {

namespace {

template <class Offset> struct TextView {
    const Offset* offsets;
    const char* bytes;
    int64_t n_rows;
    Validity validity;

    template <class Sink> void visit(Sink& sink) const {
        validity.visit(sink, n_rows, [&](int64_t row) {
            sink.text(row, {bytes + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])});
        });
    }
};

// Texts of up to 12 bytes lie in the view itself, longer ones in one of several buffers.
struct TextViewView {
    const char* views;
    const void* const* buffers;
    int64_t n_rows;
    Validity validity;

    template <class Sink> void visit(Sink& sink) const {
        Texts<Sink> texts(sink, n_rows);
        validity.visit(sink, n_rows, [&](int64_t row) {
            const char* view = views + 16 * row;
            uint32_t length;
            std::memcpy(&length, view, 4);
            if (length > kLongestShortText) return texts.show(row, elsewhere(view, length));
            if (!texts.remembers()) return texts.show(row, std::string_view(view + 4, length));
            ShortText text;
            std::memcpy(text.words, view, sizeof text.words);
            texts.show(row, text);
        });
        texts.finish();
    }
    std::string_view elsewhere(const char* view, uint32_t length) const {
        int32_t buffer, offset;
        std::memcpy(&buffer, view + 8, 4);
        std::memcpy(&offset, view + 12, 4);
        return {static_cast<const char*>(buffers[buffer]) + offset, length};
    }
};

struct BitView {
    const uint8_t* bits;
    int64_t bit_offset;
    int64_t n_rows;
    Validity validity;

    template <class Sink> void visit(Sink& sink) const {
        validity.visit(sink, n_rows, [&](int64_t row) {
            const int64_t bit = row + bit_offset;
            sink.boolean(row, (bits[bit >> 3] >> (bit & 7)) & 1);
        });
    }
};

struct HalfView {
    NumberView<uint16_t> halves;

    static double widened(uint16_t half) {
        const int exponent = (half >> 10) & 31, fraction = half & 1023;
        const double sign = half & 0x8000 ? -1.0 : 1.0;
        if (exponent == 31)
            return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
        return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
    }
    template <class Sink> void visit(Sink& sink) const {
        halves.validity.visit(sink, halves.n_rows,
                              [&](int64_t row) { NumberView<double>::show(sink, row, widened(halves.value(row))); });
    }
};

struct NothingView {
    int64_t n_rows;
    template <class Sink> void visit(Sink& sink) const {
        for (int64_t row = 0; row < n_rows; ++row) sink.null(row);
    }
};

// Lists, structs, bytes: present or not, but not looked into.
struct OpaqueView {
    int64_t n_rows;
    Validity validity;
    template <class Sink> void visit(Sink& sink) const {
        validity.visit(sink, n_rows, [&](int64_t row) { sink.opaque(row); });
    }
};

// d:precision,scale[,bits]
int scale_of(const std::string& format) { return std::stoi(format.substr(format.find(',') + 1)); }

int decimal_bytes(const std::string& format) {
    const std::size_t second = format.find(',', format.find(',') + 1);
    return second == std::string::npos ? 16 : std::stoi(format.substr(second + 1)) / 8;
}

ArrowField field_of(const ArrowSchema& schema) {
    ArrowField field;
    field.name = schema.name ? schema.name : "";
    field.format = schema.format;
    field.storage = storage_of(field.format);
    field.ordered = (schema.flags & kArrowDictionaryOrdered) != 0;
    if (schema.dictionary) {
        field.dictionary = std::make_shared<ArrowField>(field_of(*schema.dictionary));
        field.storage = field.dictionary->storage;
    }
    return field;
}

int64_t units_per_second(char unit) {
    switch (unit) {
        case 's': return 1;
        case 'm': return 1000;
        case 'u': return 1000000;
        default: return 1000000000;
    }
}

// The cells [begin, begin + n_rows) of one array.
struct Slice {
    const ArrowArray& array;
    int64_t begin, n_rows;

    int64_t start() const { return array.offset + begin; }
    Validity validity() const {
        Validity v;
        if (array.null_count != 0 && array.n_buffers > 0) v.bitmap = static_cast<const uint8_t*>(array.buffers[0]);
        v.bit_offset = start();
        return v;
    }
    template <class T> NumberView<T> numbers() const {
        return {static_cast<const char*>(array.buffers[1]) + start() * static_cast<int64_t>(sizeof(T)), sizeof(T),
                n_rows, validity()};
    }
    template <class T> std::unique_ptr<Column> number_column() const { return column_of(numbers<T>(), n_rows); }
    template <class Offset> std::unique_ptr<Column> text_column() const {
        const auto* offsets = static_cast<const Offset*>(array.buffers[1]) + start();
        return column_of(TextView<Offset>{offsets, static_cast<const char*>(array.buffers[2]), n_rows, validity()},
                         n_rows);
    }
    template <class T> std::unique_ptr<Column> coded(std::shared_ptr<const std::vector<Value>> values) const {
        return column_of(CodedView<T>{numbers<T>(), std::move(values)}, n_rows);
    }
};

std::unique_ptr<Column> temporal_column(const Slice& s, const std::string& format) {
    const int64_t rate = units_per_second(format.size() > 2 ? format[2] : 's');
    if (format == "tdD") return column_of(TemporalView<int32_t>{s.numbers<int32_t>(), Clock::date, 1}, s.n_rows);
    if (format == "tdm")
        return column_of(TemporalView<int64_t>{s.numbers<int64_t>(), Clock::milliseconds_date, 1000}, s.n_rows);
    if (format == "tts" || format == "ttm")
        return column_of(TemporalView<int32_t>{s.numbers<int32_t>(), Clock::time, rate}, s.n_rows);
    Clock clock = format[1] == 't' ? Clock::time : format[1] == 'D' ? Clock::duration : Clock::timestamp;
    if (clock == Clock::timestamp && format.size() > 4) clock = Clock::zoned_timestamp;
    return column_of(TemporalView<int64_t>{s.numbers<int64_t>(), clock, rate}, s.n_rows);
}

std::unique_ptr<Column> decimal_column(const Slice& s, const std::string& format) {
    const int scale = scale_of(format), n_bytes = decimal_bytes(format);
    const auto* data = static_cast<const unsigned char*>(s.array.buffers[1]) + s.start() * n_bytes;
    return column_of(DecimalView{data, n_bytes, scale, s.n_rows, s.validity()}, s.n_rows);
}

std::unique_ptr<Column> plain_column(const Slice& s, const std::string& format) {
    switch (format[0]) {
        case 'n': return column_of(NothingView{s.n_rows}, s.n_rows);
        case 'b':
            return column_of(
                BitView{static_cast<const uint8_t*>(s.array.buffers[1]), s.start(), s.n_rows, s.validity()}, s.n_rows);
        case 'c': return s.number_column<int8_t>();
        case 'C': return s.number_column<uint8_t>();
        case 's': return s.number_column<int16_t>();
        case 'S': return s.number_column<uint16_t>();
        case 'i': return s.number_column<int32_t>();
        case 'I': return s.number_column<uint32_t>();
        case 'l': return s.number_column<int64_t>();
        case 'L': return s.number_column<uint64_t>();
        case 'e': return column_of(HalfView{s.numbers<uint16_t>()}, s.n_rows);
        case 'f': return s.number_column<float>();
        case 'g': return s.number_column<double>();
        case 'd': return decimal_column(s, format);
        case 'u': return s.text_column<int32_t>();
        case 'U': return s.text_column<int64_t>();
        default: break;
    }
    if (format == "vu") {
        const char* views = static_cast<const char*>(s.array.buffers[1]) + s.start() * 16;
        return column_of(TextViewView{views, s.array.buffers + 2, s.n_rows, s.validity()}, s.n_rows);
    }
    if (format[0] == 't' && format[1] != 'i') return temporal_column(s, format);
    // Unions and run-end encoded arrays have no validity of their own; their first buffer is something else.
    const bool has_validity = format.compare(0, 2, "+u") != 0 && format.compare(0, 2, "+r") != 0;
    return column_of(OpaqueView{s.n_rows, has_validity ? s.validity() : Validity{}}, s.n_rows);
}

std::unique_ptr<Column> coded_column(const Slice& s, char index, std::shared_ptr<const std::vector<Value>> values) {
    switch (index) {
        case 'c': return s.coded<int8_t>(std::move(values));
        case 'C': return s.coded<uint8_t>(std::move(values));
        case 's': return s.coded<int16_t>(std::move(values));
        case 'S': return s.coded<uint16_t>(std::move(values));
        case 'i': return s.coded<int32_t>(std::move(values));
        case 'I': return s.coded<uint32_t>(std::move(values));
        case 'l': return s.coded<int64_t>(std::move(values));
        default: return s.coded<uint64_t>(std::move(values));
    }
}

}  // namespace

std::string storage_of(const std::string& format) {
    if (format.empty()) return "object";
    switch (format[0]) {
        case 'n': return "null";
        case 'b': return "boolean";
        case 'c':
        case 'C':
        case 's':
        case 'S':
        case 'i':
        case 'I':
        case 'l':
        case 'L': return "integer";
        case 'e':
        case 'f':
        case 'g': return "float";
        case 'd': return scale_of(format) > 0 ? "float" : "integer";
        case 'u':
        case 'U': return "text";
        case 'v': return format == "vu" ? "text" : "binary";
        case 'z':
        case 'Z':
        case 'w': return "binary";
        case 't': return format[1] == 'i' ? "nested" : "temporal";  // intervals have three parts
        default: return "nested";
    }
}

ArrowBatch::ArrowBatch(std::shared_ptr<const std::vector<ArrowField>> fields, ArrowArray array)
    : fields_(std::move(fields)), array_(array) {}

ArrowBatch::~ArrowBatch() {
    if (array_.release) array_.release(&array_);
}

std::unique_ptr<Column> ArrowBatch::column(std::size_t index, int64_t begin, int64_t n_rows) const {
    const ArrowField& field = (*fields_)[index];
    const Slice slice{*array_.children[index], array_.offset + begin, n_rows};
    auto column =
        field.dictionary ? coded_column(slice, field.format[0], dictionary(index)) : plain_column(slice, field.format);
    column->owner = shared_from_this();
    return column;
}

std::shared_ptr<const std::vector<Value>> ArrowBatch::dictionary(std::size_t index) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    auto& values = dictionaries_[index];
    if (!values) {
        const ArrowArray& entries = *array_.children[index]->dictionary;
        ValuesSink sink;
        plain_column({entries, 0, entries.length}, (*fields_)[index].dictionary->format)->show_to(sink);
        values = std::make_shared<const std::vector<Value>>(std::move(sink.values));
    }
    return values;
}

const double* ArrowBatch::matrix(const std::vector<std::size_t>& columns, int64_t begin, int64_t& column_step) const {
    std::uintptr_t first = 0, last = 0, step = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const ArrowField& field = (*fields_)[columns[k]];
        const ArrowArray& array = *array_.children[columns[k]];
        if (field.format != "g" || (array.null_count != 0 && !field.missing_is_nan)) return nullptr;
        const auto place = reinterpret_cast<std::uintptr_t>(static_cast<const double*>(array.buffers[1]) +
                                                            array.offset + array_.offset + begin);
        if (k == 0) first = place;
        if (k == 1) step = place - last;
        if (place % alignof(double) != 0 || (k > 0 && (place <= last || place - last != step))) return nullptr;
        last = place;
    }
    column_step = static_cast<int64_t>(step / sizeof(double));
    return reinterpret_cast<const double*>(first);
}

ArrowStream::ArrowStream(ArrowArrayStream* stream) : stream_(*stream) {
    stream->release = nullptr;
    ArrowSchema schema{};
    const int code = stream_.get_schema(&stream_, &schema);
    if (code != 0) {
        const std::string why = last_error(code);
        close();
        throw std::runtime_error(why);
    }
    auto fields = std::make_shared<std::vector<ArrowField>>();
    const bool is_struct = std::strcmp(schema.format, "+s") == 0;
    for (int64_t i = 0; is_struct && i < schema.n_children; ++i) fields->push_back(field_of(*schema.children[i]));
    fields_ = std::move(fields);
    if (schema.release) schema.release(&schema);
    if (!is_struct) {
        close();
        throw std::invalid_argument("the stream holds a single array, not a table");
    }
}

ArrowStream::~ArrowStream() { close(); }

void ArrowStream::close() {
    if (stream_.release) stream_.release(&stream_);
    stream_.release = nullptr;
}

std::string ArrowStream::last_error(int code) {
    const char* text = stream_.get_last_error(&stream_);
    return text ? text : "error " + std::to_string(code);
}

std::shared_ptr<ArrowBatch> ArrowStream::next() {
    if (!stream_.release) return nullptr;
    ArrowArray array{};
    const int code = stream_.get_next(&stream_, &array);
    if (code != 0) throw std::runtime_error(last_error(code));
    if (!array.release) return nullptr;
    return std::make_shared<ArrowBatch>(fields_, array);
}

}  // namespace bayeswise::tables
