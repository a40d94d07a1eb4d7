// Columns, levels and profiles as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "common/require.hpp"
#include "tables/arrow/stream.hpp"
#include "tables/objects.hpp"
#include "tables/text/csv.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::tables {

namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::device::cpu>;
using DoubleMatrix = nb::ndarray<double, nb::ndim<2>, nb::device::cpu>;
using Codes = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Mask = nb::ndarray<nb::ro, bool, nb::ndim<1>, nb::device::cpu>;

// Bytes that are not UTF-8 are a UnicodeDecodeError; whoever knows the column says in which row they are.
nb::object text_object(std::string_view text) {
    nb::object o = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
    if (!o.is_valid()) nb::raise_python_error();
    return o;
}

nb::object wide_object(std::string_view digits) {
    nb::object o = nb::steal(PyLong_FromString(std::string(digits).c_str(), nullptr, 10));
    if (!o.is_valid()) nb::raise_python_error();
    return o;
}

nb::object label_object(const Level& level) {
    switch (level.tag) {
        case Tag::boolean: return nb::bool_(level.bits != 0);
        case Tag::integer: return nb::int_(static_cast<int64_t>(level.bits));
        case Tag::wide_integer: return wide_object(level.text);
        case Tag::real: {
            double x;
            std::memcpy(&x, &level.bits, 8);
            return nb::float_(x);
        }
        default: return text_object(level.text);
    }
}

nb::object value_object(const Value& value) {
    switch (value.kind) {
        case Value::Kind::null: return nb::none();
        case Value::Kind::text: return text_object(value.text);
        case Value::Kind::integer: return nb::int_(value.integer);
        case Value::Kind::wide_integer: return wide_object(value.text);
        case Value::Kind::real: return nb::float_(value.real);
        case Value::Kind::boolean: return nb::bool_(value.integer != 0);
        default: return nb::str("(nested or binary)");
    }
}

nb::list value_list(const std::vector<Value>& values) {
    nb::list list;
    for (const Value& value : values) list.append(value_object(value));
    return list;
}

// Without the interpreter's lock where the cells allow it.
template <class Sink> void run(const Column& column, Sink& sink) {
    std::optional<nb::gil_scoped_release> free;
    if (!column.needs_interpreter) free.emplace();
    column.show_to(sink);
}

void check_length(const Column& column, std::size_t length) {
    require(static_cast<int64_t>(length) == column.n_rows, "the output has another length than the column");
}

// The invalid cells of a column, and how its texts are written.
nb::tuple spelled(const NumbersSink& sink) {
    nb::list found;
    for (const InvalidCell& cell : sink.invalid) found.append(nb::make_tuple(cell.row, text_object(cell.text)));
    return nb::make_tuple(found, sink.spelling);
}

nb::tuple column_spelled_numbers(const Column& column, const TextRules& rules, Doubles out) {
    check_length(column, out.shape(0));
    NumbersSink sink{out.data(), out.stride(0), rules, {}};
    run(column, sink);
    return spelled(sink);
}

constexpr int64_t kCellsAtATime = 1 << 15;
constexpr const char* kManyNumbers = "Fill (n_rows, n_columns) doubles; for each column what spelled_numbers returns.";

// Fills (n_rows, n_columns) doubles, a few rows of all columns at a time, which stay in the cache meanwhile;
// part(index, begin, n_rows) is a column of some rows.
template <class Part>
nb::list fill_numbers(const std::vector<std::size_t>& indices, const TextRules& rules, DoubleMatrix& out, Part part) {
    require(out.shape(1) == indices.size(), "the output has another number of columns");
    const int64_t n_rows = static_cast<int64_t>(out.shape(0)), n_columns = static_cast<int64_t>(indices.size());
    std::vector<NumbersSink> sinks;
    for (int64_t c = 0; c < n_columns; ++c) sinks.push_back({out.data() + c * out.stride(1), out.stride(0), rules, {}});
    {
        const nb::gil_scoped_release free;
        const int64_t step = std::max<int64_t>(64, kCellsAtATime / std::max<int64_t>(1, n_columns));
        for (int64_t first = 0; first < n_rows; first += step)
            for (int64_t c = 0; c < n_columns; ++c) {
                const int64_t n = std::min(step, n_rows - first);
                part(indices[static_cast<std::size_t>(c)], first, n)->show_to(sinks[c]);
                sinks[c].out += n * sinks[c].stride;
                sinks[c].first_row += n;
            }
    }
    nb::list found;
    for (const NumbersSink& sink : sinks) found.append(spelled(sink));
    return found;
}

nb::object column_numbers(const Column& column, const TextRules& rules, Doubles out) {
    return column_spelled_numbers(column, rules, std::move(out))[0];
}

void column_labels(const Column& column, const TextRules& rules, Levels& levels, Codes out) {
    check_length(column, out.shape(0));
    std::unique_lock<std::mutex> lock(levels.mutex(), std::defer_lock);
    {
        const nb::gil_scoped_release free;  // whoever holds the levels may need the interpreter
        lock.lock();
    }
    LabelsSink sink{out.data(), rules, levels};
    run(column, sink);
}

void column_profile(const Column& column, const TextRules& rules, Profiler& profiler, int64_t first_row) {
    ProfileSink sink{profiler, rules, first_row, column.lines};
    run(column, sink);
}

nb::list column_texts(const Column& column, const TextRules& rules) {
    TextsSink sink(rules);
    run(column, sink);
    return value_list(sink.values);
}

nb::dict column_kinds(const Column& column) {
    KindsSink sink;
    run(column, sink);
    nb::dict kinds;
    kinds["null"] = sink.nulls;
    kinds["text"] = sink.texts;
    kinds["integer"] = sink.integers;
    kinds["float"] = sink.reals;
    kinds["boolean"] = sink.booleans;
    return kinds;
}

nb::object column_line(const Column& column, int64_t row) {
    if (!column.lines || row < 0 || row >= column.n_rows) return nb::none();
    return nb::int_(column.lines[row]);
}

std::unique_ptr<Column> object_column(nb::object cells, nb::object settle) {
    const bool is_list = PyList_CheckExact(cells.ptr());
    if (!is_list && !PyTuple_CheckExact(cells.ptr())) throw nb::type_error("cells must be a list or a tuple");
    const Py_ssize_t n = is_list ? PyList_Size(cells.ptr()) : PyTuple_Size(cells.ptr());
    auto column = column_of(ObjectView{std::move(cells), std::move(settle), n}, n);
    column->needs_interpreter = true;
    return column;
}

template <class T> NumberView<T> number_view(const AnyArray& array, const std::optional<Mask>& mask) {
    NumberView<T> view;
    view.data = static_cast<const char*>(array.data());
    view.stride = array.stride(0) * static_cast<int64_t>(sizeof(T));
    view.n_rows = static_cast<int64_t>(array.shape(0));
    if (mask) {
        view.validity.mask = reinterpret_cast<const uint8_t*>(mask->data());
        view.validity.mask_stride = mask->stride(0);
    }
    return view;
}

struct PlainColumn {
    template <class T> std::unique_ptr<Column> made(NumberView<T> view) const { return column_of(view, view.n_rows); }
};

struct CodedColumn {
    std::shared_ptr<const std::vector<Value>> values;
    template <class T> std::unique_ptr<Column> made(NumberView<T> view) const {
        return column_of(CodedView<T>{view, values}, view.n_rows);
    }
};

template <class Maker>
std::unique_ptr<Column> array_column(const AnyArray& array, const std::optional<Mask>& mask, const Maker& maker) {
    const nb::dlpack::dtype type = array.dtype();
    std::unique_ptr<Column> column;
    if (type == nb::dtype<double>())
        column = maker.made(number_view<double>(array, mask));
    else if (type == nb::dtype<float>())
        column = maker.made(number_view<float>(array, mask));
    else if (type == nb::dtype<bool>())
        column = maker.made(number_view<bool>(array, mask));
    else if (type == nb::dtype<int8_t>())
        column = maker.made(number_view<int8_t>(array, mask));
    else if (type == nb::dtype<int16_t>())
        column = maker.made(number_view<int16_t>(array, mask));
    else if (type == nb::dtype<int32_t>())
        column = maker.made(number_view<int32_t>(array, mask));
    else if (type == nb::dtype<int64_t>())
        column = maker.made(number_view<int64_t>(array, mask));
    else if (type == nb::dtype<uint8_t>())
        column = maker.made(number_view<uint8_t>(array, mask));
    else if (type == nb::dtype<uint16_t>())
        column = maker.made(number_view<uint16_t>(array, mask));
    else if (type == nb::dtype<uint32_t>())
        column = maker.made(number_view<uint32_t>(array, mask));
    else if (type == nb::dtype<uint64_t>())
        column = maker.made(number_view<uint64_t>(array, mask));
    else
        throw nb::type_error("an array of this type holds no numbers");
    require(!mask || mask->shape(0) == array.shape(0), "the mask has another length than the array");
    column->owner = std::make_shared<std::pair<AnyArray, std::optional<Mask>>>(array, mask);
    return column;
}

std::unique_ptr<Column> number_column(AnyArray array, std::optional<Mask> mask) {
    return array_column(array, mask, PlainColumn{});
}

std::unique_ptr<Column> coded_column(AnyArray codes, nb::object values, nb::object settle) {
    ValuesSink sink;
    object_column(std::move(values), std::move(settle))->show_to(sink);
    return array_column(codes, std::nullopt,
                        CodedColumn{std::make_shared<const std::vector<Value>>(std::move(sink.values))});
}

void set_levels(Levels* self, nb::object declared, nb::object settle) {
    new (self) Levels();
    auto column = object_column(std::move(declared), std::move(settle));
    static const TextRules plain{NullWords({}), '.'};
    std::vector<int32_t> codes(static_cast<std::size_t>(column->n_rows));
    LabelsSink sink{codes.data(), plain, *self};
    column->show_to(sink);
}

// Another thread may be adding levels: they are copied first (their text stays where it is), then made into objects.
nb::list levels_from(Levels& levels, std::size_t start) {
    std::vector<Level> fresh;
    {
        const nb::gil_scoped_release free;
        const std::lock_guard<std::mutex> lock(levels.mutex());
        for (std::size_t i = start; i < levels.size(); ++i) fresh.push_back(levels[i]);
    }
    nb::list list;
    for (const Level& level : fresh) list.append(label_object(level));
    return list;
}

nb::dict profile_result(const Profiler& p, std::size_t most) {
    nb::dict d;
    d["rows"] = p.rows, d["missing"] = p.missing, d["integers"] = p.integers, d["zero_padded"] = p.zero_padded;
    d["decimals"] = p.decimals, d["invalid"] = p.invalid, d["booleans"] = p.booleans, d["infinite"] = p.infinite;
    d["wide_integers"] = p.wide_integers, d["longest"] = p.longest, d["words"] = p.mean_words();
    const bool numbers = p.minimum <= p.maximum;
    d["minimum"] = numbers ? p.minimum : std::nan("");
    d["maximum"] = numbers ? p.maximum : std::nan("");
    d["distinct"] = p.distinct(), d["distinct_exact"] = p.distinct_exact();
    d["levels_complete"] = p.counted() && p.distinct() <= most;
    nb::list words, examples, levels;
    for (const auto& [word, n] : p.null_words) words.append(nb::make_tuple(text_object(word), n));
    for (const InvalidExample& e : p.invalid_examples)
        examples.append(nb::make_tuple(e.place.row, e.place.line < 0 ? nb::none() : nb::object(nb::int_(e.place.line)),
                                       text_object(e.text)));
    for (const auto& [level, n] : p.frequent(most)) levels.append(nb::make_tuple(label_object(level), n));
    d["null_words"] = words, d["invalid_examples"] = examples, d["levels"] = levels;
    return d;
}

nb::bytes bytes_object(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

void set_rules(TextRules* self, const std::vector<std::string>& null_words, char decimal_mark) {
    new (self) TextRules{NullWords(null_words), decimal_mark};
}

std::unique_ptr<Column> csv_column(std::shared_ptr<CsvBlock> block, std::size_t index, int64_t begin, int64_t n_rows) {
    if (index >= block->n_columns) throw nb::index_error("no such column");
    if (begin < 0 || n_rows < 0 || begin + n_rows > block->n_rows()) throw nb::index_error("rows beyond the block");
    auto column = column_of(CsvView{block.get(), index, begin, n_rows}, n_rows);
    column->lines = block->lines.data() + begin;
    column->owner = std::move(block);
    return column;
}

nb::list csv_numbers(std::shared_ptr<CsvBlock> block, const std::vector<std::size_t>& indices, int64_t begin,
                     const TextRules& rules, DoubleMatrix out) {
    return fill_numbers(indices, rules, out, [&](std::size_t index, int64_t first, int64_t n_rows) {
        return csv_column(block, index, begin + first, n_rows);
    });
}

std::shared_ptr<CsvBlock> split_bytes(nb::bytes carried, nb::bytes fresh, char delimiter, char quote, bool skip_space,
                                      std::size_t n_columns, int64_t first_line, bool last, std::size_t most_rows) {
    const std::string_view front(carried.c_str(), carried.size()), back(fresh.c_str(), fresh.size());
    const nb::gil_scoped_release free;
    return split_csv(front, back, Dialect{delimiter, quote, skip_space}, n_columns, first_line, last, most_rows);
}

const char* flaw_name(const CsvBlock& block) {
    switch (block.flaw) {
        case Flaw::ragged: return "ragged";
        case Flaw::after_quote: return "after_quote";
        case Flaw::open_quote: return "open_quote";
        case Flaw::encoding: return "encoding";
        default: return "";
    }
}

void set_stream(ArrowStream* self, nb::capsule capsule) {
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (!stream) nb::raise_python_error();
    require(stream->release != nullptr, "the stream was read before");
    new (self) ArrowStream(stream);
}

nb::list stream_fields(const ArrowStream& stream) {
    nb::list fields;
    for (const ArrowField& f : stream.fields())
        fields.append(nb::make_tuple(text_object(f.name), f.storage, f.dictionary != nullptr, f.ordered));
    return fields;
}

std::unique_ptr<Column> batch_column(const ArrowBatch& batch, std::size_t index, int64_t begin, int64_t n_rows) {
    if (index >= batch.n_columns()) throw nb::index_error("no such column");
    if (begin < 0 || n_rows < 0 || begin + n_rows > batch.n_rows()) throw nb::index_error("rows beyond the batch");
    return batch.column(index, begin, n_rows);
}

nb::list batch_numbers(const ArrowBatch& batch, const std::vector<std::size_t>& indices, int64_t begin,
                       const TextRules& rules, DoubleMatrix out) {
    return fill_numbers(indices, rules, out, [&](std::size_t index, int64_t first, int64_t n_rows) {
        return batch_column(batch, index, begin + first, n_rows);
    });
}

nb::object batch_matrix(std::shared_ptr<ArrowBatch> batch, const std::vector<std::size_t>& indices, int64_t begin,
                        int64_t n_rows) {
    for (const std::size_t index : indices)
        if (index >= batch->n_columns()) throw nb::index_error("no such column");
    if (begin < 0 || n_rows < 0 || begin + n_rows > batch->n_rows()) throw nb::index_error("rows beyond the batch");
    int64_t column_step = 0;
    const double* cells = batch->matrix(indices, begin, column_step);
    if (!cells) return nb::none();
    using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
    const nb::object owner = nb::cast(std::move(batch));
    return nb::cast(Matrix(cells, {static_cast<std::size_t>(n_rows), indices.size()}, owner, {1, column_step}));
}

}  // namespace

void bind_arrow(nb::module_& m) {
    nb::class_<TextRules>(m, "TextRules", "How text cells are read: the words for missing and the decimal mark.")
        .def("__init__", &set_rules, "null_words"_a, "decimal_mark"_a = '.');
    nb::class_<Levels>(m, "Levels", "A dictionary of values that only grows.")
        .def("__init__", &set_levels, "declared"_a, "settle"_a)
        .def("__len__", &Levels::size)
        .def("since", &levels_from, "start"_a, "The labels from this code on.");
    nb::class_<Profiler>(m, "Profiler", "Counts what the cells of one column look like.")
        .def(nb::init<std::size_t, std::size_t, std::size_t>(), "exact_distinct"_a, "counted_levels"_a,
             "counted_bytes"_a)
        .def("result", &profile_result, "most"_a)
        .def("state", [](const Profiler& p) { return bytes_object(p.state()); })
        .def("absorb", [](Profiler& p, nb::bytes state) { p.absorb({state.c_str(), state.size()}); }, "state"_a);
    nb::class_<Column>(m, "Column", "One column of some rows.")
        .def_ro("n_rows", &Column::n_rows)
        .def("numbers", &column_numbers, "rules"_a, "out"_a.noconvert(),
             "Fill doubles; return the invalid cells as (row, text).")
        .def("spelled_numbers", &column_spelled_numbers, "rules"_a, "out"_a.noconvert(),
             "The same, and how texts are written: 1 leading zeros, 2 integers beyond 2^53, 4 other than integers.")
        .def("labels", &column_labels, "rules"_a, "levels"_a, "out"_a.noconvert(),
             "Fill codes into the growing levels.")
        .def("profile", &column_profile, "rules"_a, "profiler"_a, "first_row"_a)
        .def("texts", &column_texts, "rules"_a, "The values, None for missing.")
        .def("kinds", &column_kinds, "How many cells of each kind there are.")
        .def("line", &column_line, "row"_a, "The line of a row in its text file.");
    m.def("object_column", &object_column, "cells"_a, "settle"_a);
    m.def("number_column", &number_column, "array"_a.noconvert(), "mask"_a.noconvert() = nb::none());
    m.def("coded_column", &coded_column, "codes"_a.noconvert(), "values"_a, "settle"_a);

    nb::class_<CsvBlock>(m, "CsvBlock", "The whole records of one block of text.")
        .def_prop_ro("n_rows", &CsvBlock::n_rows)
        .def_ro("n_columns", &CsvBlock::n_columns)
        .def_ro("next_line", &CsvBlock::next_line)
        .def_prop_ro("flaw", &flaw_name)
        .def_ro("flaw_line", &CsvBlock::flaw_line)
        .def_ro("flaw_fields", &CsvBlock::flaw_fields)
        .def(
            "rest", [](const CsvBlock& b) { return nb::bytes(b.data.data() + b.consumed, b.data.size() - b.consumed); },
            "The bytes after the last whole record.")
        .def_static("split", &split_bytes, "carried"_a, "fresh"_a, "delimiter"_a, "quote"_a, "skip_space"_a,
                    "n_columns"_a, "first_line"_a, "last"_a, "most_rows"_a)
        .def("column", &csv_column, "index"_a, "begin"_a, "n_rows"_a)
        .def("numbers", &csv_numbers, "indices"_a, "begin"_a, "rules"_a, "out"_a.noconvert(), kManyNumbers);

    nb::class_<ArrowBatch>(m, "ArrowBatch", "Some rows of an Arrow stream.")
        .def_prop_ro("n_rows", &ArrowBatch::n_rows)
        .def("column", &batch_column, "index"_a, "begin"_a, "n_rows"_a)
        .def("numbers", &batch_numbers, "indices"_a, "begin"_a, "rules"_a, "out"_a.noconvert(), kManyNumbers)
        .def("matrix", &batch_matrix, "indices"_a, "begin"_a, "n_rows"_a,
             "Columns of doubles as (n_rows, n_columns) without a copy, or None where they do not lie so.")
        .def(
            "declared", [](const ArrowBatch& b, std::size_t index) { return value_list(*b.dictionary(index)); },
            "index"_a);
    nb::class_<ArrowStream>(m, "ArrowStream", "A stream of the Arrow C data interface, from its capsule.")
        .def("__init__", &set_stream, "capsule"_a)
        .def("fields", &stream_fields, "(name, storage, is dictionary, is ordered) of each column.")
        .def("next", &ArrowStream::next, nb::call_guard<nb::gil_scoped_release>(),
             "The next batch, or None at the end.")
        .def("close", &ArrowStream::close, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace bayeswise::tables
