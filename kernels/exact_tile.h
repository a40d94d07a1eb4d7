// A tile: a few rows of a block of columns, as row-major doubles, its rows sorted by group.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "exact_rows.h"
#include "exact_sweep.h"

namespace bayeswise {

// The groups and weights of a tile's rows. A row is taken out of the sweep by setting its group to -1.
class TileRows {
public:
    explicit TileRows(const Rows& rows) : rows_(rows), first_of_group_(static_cast<std::size_t>(rows.n_groups), -1) {}

    void read(std::int64_t first, int n) {
        n_ = n;
        if (rows_.weights)
            for (int r = 0; r < n; ++r) weights[r] = rows_.weights[first + r];
        if (rows_.groups && !rows_.weights)
            read_groups(first);
        else
            for (int r = 0; r < n; ++r) groups[r] = rows_.group(first + r);
    }

    double weight(int row) const { return rows_.weights ? weights[row] : 1.0; }

    // Fills order and runs by way of a list of rows for each group: takes time for rows, not for groups.
    void sort_by_group() {
        n_runs = 0;
        for (int r = n_ - 1; r >= 0; --r) {
            if (groups[r] < 0) continue;
            std::int32_t& first = first_of_group_[groups[r]];
            if (first < 0) runs[n_runs++].group = groups[r];
            next_in_group_[r] = first;
            first = r;
        }
        std::int32_t filled = 0;
        for (int k = 0; k < n_runs; ++k) {
            runs[k].begin = filled;
            std::int32_t& first = first_of_group_[runs[k].group];
            for (std::int32_t r = first; r >= 0; r = next_in_group_[r]) order[filled++] = r;
            runs[k].end = filled;
            first = -1;
        }
    }

    std::int32_t groups[tile_rows], order[tile_rows];
    double weights[tile_rows];  // not set without weights
    Run runs[tile_rows];
    int n_runs = 0;

private:
    // The common case, quickly.
    void read_groups(std::int64_t first) {
        std::int32_t largest = -1;
        for (int r = 0; r < n_; ++r) {
            groups[r] = rows_.groups[first + r];
            largest = std::max(largest, groups[r]);
        }
        for (int r = 0; largest >= rows_.n_groups && r < n_; ++r) rows_.group(first + r);
    }

    const Rows& rows_;
    int n_ = 0;
    std::vector<std::int32_t> first_of_group_;
    std::int32_t next_in_group_[tile_rows];
};

// The values of a tile: read where they lie if they are doubles side by side, copied otherwise.
template <class T>
class TileValues {
public:
    TileValues(const Matrix<T>& matrix, std::int64_t first_column, int n_columns)
        : columns(n_columns), matrix_(matrix), corner_(matrix.data + first_column * matrix.column_stride) {}

    void read(std::int64_t first_row, int n_rows) {
        rows = n_rows;
        const char* corner = corner_ + first_row * matrix_.row_stride;
        if (lies_in_place(corner)) {
            data = reinterpret_cast<const double*>(corner);
            stride = matrix_.row_stride / static_cast<std::int64_t>(sizeof(double));
            next = first_row + 2 * rows <= matrix_.rows ? rows * stride : 0;
        } else {
            copy(corner);
        }
    }

    // The same values where they may be changed.
    double* own() {
        if (data != scratch_.data()) copy(reinterpret_cast<const char*>(data));
        return scratch_.data();
    }

    const double* row(int index) const { return data + index * stride; }

    const double* data = nullptr;
    std::int64_t stride = 0, next = 0;  // as in Tile
    int rows = 0, columns;

private:
    bool lies_in_place(const char* corner) const {
        const std::int64_t size = sizeof(double);
        return std::is_same_v<T, double> && matrix_.column_stride == size && matrix_.row_stride % size == 0 &&
               reinterpret_cast<std::uintptr_t>(corner) % alignof(double) == 0;
    }

    // A few rows at a time, so that columns that lie side by side are read a cache line at a time.
    void copy(const char* corner) {
        constexpr int strip = 16;
        scratch_.resize(static_cast<std::size_t>(rows) * columns);
        for (int first = 0; first < rows; first += strip)
            for (int column = 0; column < columns; ++column) {
                const Vector<T> values = {corner + column * matrix_.column_stride, matrix_.row_stride};
                for (int row = first; row < std::min(first + strip, rows); ++row)
                    scratch_[static_cast<std::size_t>(row) * columns + column] = values[row];
            }
        data = scratch_.data();
        stride = columns;
        next = 0;
    }

    const Matrix<T>& matrix_;
    const char* corner_;
    std::vector<double> scratch_;
};

// Calls work(first row, rows) for each tile of n_rows rows.
template <class Work>
void for_each_tile(std::int64_t n_rows, int rows_of_tile, Work work) {
    for (std::int64_t first = 0; first < n_rows; first += rows_of_tile)
        work(first, static_cast<int>(std::min<std::int64_t>(rows_of_tile, n_rows - first)));
}

// The first infinite value in row order; there is one.
template <class T>
InfiniteValue first_infinite(const Matrix<T>& values, const Rows& rows) {
    for (std::int64_t row = 0; row < values.rows; ++row)
        for (std::int64_t column = 0; column < values.columns; ++column)
            if (rows.group(row) >= 0 && std::isinf(values.row(row)[column])) return {row, column};
    return {0, 0};
}

}  // namespace bayeswise
