// Parquet files as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tables/parquet/reader.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::tables {

namespace {

void set_footer(parquet::Footer* self, nb::bytes data) {
    new (self) parquet::Footer(std::string_view(data.c_str(), data.size()));
}

void set_reader(parquet::Reader* self, std::shared_ptr<parquet::Footer> footer, int descriptor,
                std::vector<std::size_t> columns, int64_t batch_rows) {
    new (self) parquet::Reader(std::move(footer), descriptor, std::move(columns), batch_rows);
}

// (name, storage) of each column; UnicodeDecodeError for a name that is not UTF-8.
nb::list columns_of(const parquet::Footer& footer) {
    nb::list found;
    for (const parquet::FileColumn& column : footer.columns) {
        nb::object name =
            nb::steal(PyUnicode_DecodeUTF8(column.name.data(), static_cast<Py_ssize_t>(column.name.size()), nullptr));
        if (!name.is_valid()) nb::raise_python_error();
        found.append(nb::make_tuple(name, storage_of(column.format)));
    }
    return found;
}

}  // namespace

void bind_parquet(nb::module_& m) {
    nb::class_<parquet::Footer>(m, "ParquetFooter",
                                "What a Parquet file says of itself; RuntimeError if it is damaged.")
        .def("__init__", &set_footer, "data"_a)
        .def("columns", &columns_of, "(name, storage) of each column.")
        .def_ro("n_rows", &parquet::Footer::n_rows)
        .def_prop_ro("n_groups", [](const parquet::Footer& footer) { return footer.groups.size(); })
        .def_prop_ro("row_bytes", &parquet::Footer::row_bytes, "Bytes of a row of decoded cells, at least.")
        .def_ro("has_known_types", &parquet::Footer::has_known_types,
                "Whether all columns are flat ones of numbers, truth values, texts, dates or times.")
        .def_ro("is_decodable", &parquet::Footer::is_decodable, "Whether a ParquetReader knows how they are stored.");
    nb::class_<parquet::Reader>(m, "ParquetReader", "Some columns of a Parquet file, a batch of rows at a time.")
        .def("__init__", &set_reader, "footer"_a, "descriptor"_a, "columns"_a, "batch_rows"_a)
        .def("next", &parquet::Reader::next, nb::call_guard<nb::gil_scoped_release>(),
             "The next rows, or None at the end; RuntimeError if they are damaged.");
}

}  // namespace bayeswise::tables
