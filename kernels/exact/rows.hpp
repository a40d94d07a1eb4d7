// What the kernels are given: views of arrays with any strides, read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace bayeswise::exact {

// Element i lies i * stride bytes after data; no alignment is assumed.
template <class T>
struct Vector {
    const char* data = nullptr;
    int64_t stride = 0;

    explicit operator bool() const { return data != nullptr; }

    T operator[](int64_t index) const {
        T value;
        std::memcpy(&value, data + index * stride, sizeof value);
        return value;
    }
};

template <class T>
struct Matrix {
    const char* data = nullptr;
    int64_t rows = 0, columns = 0;
    int64_t row_stride = 0, column_stride = 0;  // bytes

    Vector<T> row(int64_t index) const { return {data + index * row_stride, column_stride}; }
};

// Which group a row counts for and how much it weighs: without groups all rows are in group 0, without weights each
// weighs 1.
struct Rows {
    Vector<int32_t> groups;
    Vector<double> weights;
    int64_t n_groups = 1;

    bool weighted() const { return static_cast<bool>(weights); }

    // -1 for a row that is left out: its group is negative or it weighs nothing.
    int32_t group(int64_t row) const {
        if (weights && weights[row] == 0) return -1;
        if (!groups) return n_groups > 0 ? 0 : -1;
        const int32_t group = groups[row];
        if (group >= n_groups)
            throw std::invalid_argument("row " + std::to_string(row) + " has group " + std::to_string(group) +
                                        ", but there are " + std::to_string(n_groups));
        return group < 0 ? -1 : group;
    }

    double weight(int64_t row) const { return weights ? weights[row] : 1.0; }
};

// The message is "ROW COLUMN", counted from zero within the array that was given.
struct CellError : std::runtime_error {
    CellError(int64_t row, int64_t column) : std::runtime_error(std::to_string(row) + " " + std::to_string(column)) {}
};

struct InfiniteValue : CellError {
    using CellError::CellError;
};

struct CodeOutOfRange : CellError {
    using CellError::CellError;
};

}  // namespace bayeswise::exact
