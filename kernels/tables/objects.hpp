// Columns of Python objects: each cell may be of another type.
#pragma once
#include <nanobind/nanobind.h>

#include "tables/cells.hpp"

namespace bayeswise::tables {

// Exact str, int, float, bool and None are read here; anything else is first turned into one of them by `settle`.
struct ObjectView {
    nanobind::object cells;  // a list or tuple
    nanobind::object settle;
    int64_t n_rows;

    template <class Sink> void visit(Sink& sink) const {
        for (int64_t row = 0; row < n_rows; ++row) visit_cell(sink, row, item(row), true);
    }

private:
    PyObject* item(int64_t row) const {
        return PyList_CheckExact(cells.ptr()) ? PyList_GetItem(cells.ptr(), row) : PyTuple_GetItem(cells.ptr(), row);
    }
    template <class Sink> void visit_cell(Sink& sink, int64_t row, PyObject* cell, bool settling) const {
        if (cell == nullptr) nanobind::raise_python_error();
        if (cell == Py_None)
            sink.null(row);
        else if (PyUnicode_CheckExact(cell))
            visit_text(sink, row, cell);
        else if (PyFloat_CheckExact(cell))
            NumberView<double>::show(sink, row, PyFloat_AsDouble(cell));
        else if (cell == Py_True || cell == Py_False)
            sink.boolean(row, cell == Py_True);
        else if (PyLong_CheckExact(cell))
            visit_integer(sink, row, cell);
        else if (settling)
            visit_cell(sink, row, settle(nanobind::handle(cell)).ptr(), false);
        else
            throw nanobind::type_error("a cell was settled to something that is not a label");
    }
    template <class Sink> void visit_text(Sink& sink, int64_t row, PyObject* cell) const {
        Py_ssize_t size;
        if (const char* text = PyUnicode_AsUTF8AndSize(cell, &size)) {
            sink.text(row, {text, static_cast<std::size_t>(size)});
            return;
        }
        PyErr_Clear();  // a lone surrogate
        nanobind::object bytes = nanobind::steal(PyUnicode_AsEncodedString(cell, "utf-8", "surrogatepass"));
        if (!bytes.is_valid()) nanobind::raise_python_error();
        sink.text(row, {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))});
    }
    template <class Sink> void visit_integer(Sink& sink, int64_t row, PyObject* cell) const {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(cell, &overflow);
        if (overflow == 0) {
            sink.integer(row, value);
            return;
        }
        nanobind::object digits = nanobind::steal(PyObject_Str(cell));
        Py_ssize_t size;
        const char* text = digits.is_valid() ? PyUnicode_AsUTF8AndSize(digits.ptr(), &size) : nullptr;
        if (!text) nanobind::raise_python_error();
        sink.wide_integer(row, {text, static_cast<std::size_t>(size)});
    }
};

}  // namespace bayeswise::tables
