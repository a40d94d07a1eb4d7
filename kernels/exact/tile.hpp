// A tile: a few rows of a block of columns, as row-major doubles, its rows sorted by group.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/turning.hpp"
#include "exact/grid.hpp"
#include "exact/rows.hpp"
#include "exact/sweep/sweep.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

// The groups and weights of a tile's rows. A row is taken out of the sweep by setting its group to -1.
class TileRows {
public:
    explicit TileRows(const Rows& rows) : rows_(rows), first_of_group_(static_cast<std::size_t>(rows.n_groups), -1) {}

    void read(int64_t first, int n) {
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
            int32_t& first = first_of_group_[groups[r]];
            if (first < 0) runs[n_runs++].group = groups[r];
            next_in_group_[r] = first;
            first = r;
        }
        int32_t filled = 0;
        for (int k = 0; k < n_runs; ++k) {
            runs[k].begin = filled;
            int32_t& first = first_of_group_[runs[k].group];
            for (int32_t r = first; r >= 0; r = next_in_group_[r]) order[filled++] = r;
            runs[k].end = filled;
            first = -1;
        }
    }

    int32_t groups[kTileRows], order[kTileRows];
    double weights[kTileRows];  // not set without weights
    Run runs[kTileRows];
    int n_runs = 0;

private:
    // The common case, quickly.
    void read_groups(int64_t first) {
        int32_t largest = -1;
        for (int r = 0; r < n_; ++r) {
            groups[r] = rows_.groups[first + r];
            largest = std::max(largest, groups[r]);
        }
        for (int r = 0; largest >= rows_.n_groups && r < n_; ++r) rows_.group(first + r);
    }

    const Rows& rows_;
    int n_ = 0;
    std::vector<int32_t> first_of_group_;
    int32_t next_in_group_[kTileRows];
};

// The values of a tile: read where they lie if they are doubles side by side, copied otherwise.
template <class T>
class TileValues {
public:
    TileValues(const Matrix<T>& matrix, int64_t first_column, int n_columns)
        : columns(n_columns), matrix_(matrix), corner_(matrix.data + first_column * matrix.column_stride) {}

    void read(int64_t first_row, int n_rows) {
        rows = n_rows;
        const char* corner = corner_ + first_row * matrix_.row_stride;
        if (lies_in_place(corner)) {
            data = reinterpret_cast<const double*>(corner);
            stride = matrix_.row_stride / static_cast<int64_t>(sizeof(double));
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
    int64_t stride = 0, next = 0;  // as in Tile
    int rows = 0, columns;

private:
    bool lies_in_place(const char* corner) const {
        const int64_t size = sizeof(double);
        return std::is_same_v<T, double> && matrix_.column_stride == size && matrix_.row_stride % size == 0 &&
               reinterpret_cast<std::uintptr_t>(corner) % alignof(double) == 0;
    }

    void copy(const char* corner) {
        scratch_.resize(static_cast<std::size_t>(rows) * columns);
        const int64_t size = sizeof(double);
        if (std::is_same_v<T, double> && matrix_.row_stride == size && matrix_.column_stride % size == 0 &&
            reinterpret_cast<std::uintptr_t>(corner) % alignof(double) == 0)
            turn_rows<double>(scratch_.data(), reinterpret_cast<const double*>(corner), matrix_.column_stride / size, 1,
                              columns, rows, columns);
        else if (matrix_.column_stride == sizeof(T))
            for (int row = 0; row < rows; ++row) {
                const Vector<T> values = {corner + row * matrix_.row_stride, sizeof(T)};
                double* to = scratch_.data() + static_cast<std::size_t>(row) * columns;
                for (int column = 0; column < columns; ++column) to[column] = values[column];
            }
        else
            for (int row = 0; row < rows; row += strip) copy_strip(corner, row, std::min(strip, rows - row));
        data = scratch_.data();
        stride = columns;
        next = 0;
    }

    // A few rows at a time, so that columns that lie side by side are read a cache line at a time.
    void copy_strip(const char* corner, int first, int n) {
        for (int column = 0; column < columns; ++column) {
            const Vector<T> values = {corner + first * matrix_.row_stride + column * matrix_.column_stride,
                                      matrix_.row_stride};
            double* to = scratch_.data() + static_cast<std::size_t>(first) * columns + column;
            if (n == strip)
                for (int row = 0; row < strip; ++row, to += columns) *to = values[row];
            else
                for (int row = 0; row < n; ++row, to += columns) *to = values[row];
        }
    }

    static constexpr int strip = 8;

    const Matrix<T>& matrix_;
    const char* corner_;
    std::vector<double> scratch_;
};

// A tile on its way to a sweep.
template <class T>
class TileReader {
public:
    TileReader(const Matrix<T>& matrix, const Rows& all_rows, int64_t first_column, int columns)
        : rows(all_rows), values(matrix, first_column, columns), largest(static_cast<std::size_t>(padded(columns))),
          most_rows_(static_cast<std::size_t>(std::min<int64_t>(kTileRows, matrix.rows))),
          flagged(new Flagged[most_rows_ * columns]), weighted_(all_rows.weighted()) {}

    void read(int64_t first_row, int n_rows) {
        rows.read(first_row, n_rows);
        values.read(first_row, n_rows);
    }

    // Finds the largest magnitude of each column. Odd values do not count: zeros, which add nothing, take their place,
    // and set_aside(odd value) is called for each.
    template <class SetAside>
    void look(SetAside set_aside) {
        odd_ = odd_ || looks_odd();
        if (!odd_) return;
        odd_values_.resize(most_rows_ * values.columns);
        double* own = values.own();
        const int n_odd =
            sweeps().clean(own, values.stride, values.rows, values.columns, largest.data(), odd_values_.data());
        std::for_each_n(odd_values_.begin(), n_odd, set_aside);
        odd_ = n_odd > 0;
    }

    // The largest weight of rows that are not left out; calls set_aside(row) for those of odd weight before.
    template <class SetAside>
    double largest_weight(SetAside set_aside) {
        double largest = 0;
        for (int row = 0; row < values.rows; ++row) {
            if (rows.groups[row] >= 0 && is_odd_weight(rows.weights[row])) set_aside(row);
            if (rows.groups[row] >= 0) largest = std::max(largest, rows.weights[row]);
        }
        return largest;
    }

    // Adds the weight of a run to its group.
    void add_weight(const Run& run, ExactTable& weight) const {
        if (!weighted_) weight.add_integer(static_cast<std::size_t>(run.group), run.size(), 0);
        for (int k = run.begin; weighted_ && k < run.end; ++k)
            weight.add(static_cast<std::size_t>(run.group), rows.weights[rows.order[k]]);
    }

    Tile tile(const Grids& grids) const {
        return {values.data,
                values.stride,
                values.rows,
                values.columns,
                values.next,
                grids.unit.data(),
                weighted_ ? rows.weights : nullptr,
                grids.weight_unit,
                rows.order,
                rows.runs,
                rows.n_runs,
                depth.slices()};
    }

    TileRows rows;
    TileValues<T> values;
    std::vector<double> largest;  // by column

private:
    std::size_t most_rows_;  // of a tile: wide tables of few rows make many readers, which must not be large

public:
    std::unique_ptr<Flagged[]> flagged;
    Depth depth;

private:
    bool looks_odd() {
        const bool not_finite = sweeps().look(values.data, values.stride, values.rows, values.columns, largest.data());
        return not_finite || std::any_of(largest.begin(), largest.begin() + values.columns, is_odd);
    }

    bool weighted_;
    std::vector<OddValue> odd_values_;
    bool odd_ = false;  // whether the last tile had odd values: then the next one is cleaned without a look
};

// Calls work(first row, rows) for each tile of n_rows rows.
template <class Work>
void for_each_tile(int64_t n_rows, int rows_of_tile, Work work) {
    for (int64_t first = 0; first < n_rows; first += rows_of_tile)
        work(first, static_cast<int>(std::min<int64_t>(rows_of_tile, n_rows - first)));
}

// The first infinite value in row order; there is one.
template <class T>
InfiniteValue first_infinite(const Matrix<T>& values, const Rows& rows) {
    for (int64_t row = 0; row < values.rows; ++row)
        for (int64_t column = 0; column < values.columns; ++column)
            if (rows.group(row) >= 0 && std::isinf(values.row(row)[column])) return {row, column};
    return {0, 0};
}

}  // namespace bayeswise::exact
