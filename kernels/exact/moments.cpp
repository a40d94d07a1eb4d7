#include "exact/sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "exact/arithmetic.hpp"
#include "exact/running_sums.hpp"
#include "exact/sweep/sweep.hpp"
#include "exact/tile.hpp"

namespace bayeswise::exact {

namespace {

// The sums that the kernel answers with, by group and column.
struct Tables {
    Tables(int64_t n_groups, int64_t n_columns, bool with_weights)
        : columns(n_columns), weighted(with_weights), total(n_groups * n_columns), squares(n_groups * n_columns),
          weight(n_groups), missing(n_groups * n_columns) {}

    std::size_t entry(int32_t group, int64_t column) const { return group * columns + column; }

    int64_t columns;
    bool weighted;
    ExactTable total, squares;  // (n_groups, columns)
    ExactTable weight;          // (n_groups,), of all rows
    ExactTable missing;         // (n_groups, columns)
};

// Running sums of a block of columns: those of totals, then those of squares.
class BlockSums : public RunningSums<BlockSums> {
public:
    BlockSums(Tables& tables, int64_t first_column, int columns, int64_t n_groups)
        : RunningSums(columns, n_groups), tables_(tables), first_column_(first_column), columns_(columns),
          group_size_((total_levels(tables.weighted) + product_levels(tables.weighted)) * padded(columns)),
          sums_(n_groups * group_size_) {}

    ColumnSums sums() { return {sums_.data(), group_size_}; }

    void flush_group(std::size_t group) {
        for (int c = 0; c < columns_; ++c) flush_column(group, c);
    }

    void flush_column(std::size_t group, int column) {
        if (!grids.chosen(column)) return;
        const std::size_t entry = tables_.entry(static_cast<int32_t>(group), first_column_ + column);
        const int exponent = grids.weighted_unit_exponent(column), step = padded(columns_);
        const int levels = total_levels(tables_.weighted);
        int64_t* sum = sums_.data() + group * group_size_ + column;
        move(sum, step, levels, tables_.total, entry, exponent);
        move(sum + levels * step, step, product_levels(tables_.weighted), tables_.squares, entry,
             exponent + grids.unit_exponent(column));
    }

private:
    Tables& tables_;
    int64_t first_column_;
    int columns_;
    int64_t group_size_;
    std::vector<int64_t> sums_;
};

// Sums a block of columns tile by tile.
template <class T>
class BlockSweep {
public:
    BlockSweep(const Matrix<T>& matrix, const Rows& rows, Tables& tables, int64_t first_column, int columns)
        : matrix_(matrix), all_rows_(rows), tables_(tables), first_column_(first_column),
          reader_(matrix, rows, first_column, columns), sums_(tables, first_column, columns, rows.n_groups) {}

    void add(int64_t first_row, int n_rows) {
        reader_.read(first_row, n_rows);
        if (tables_.weighted) sums_.fit_weights(reader_.largest_weight([&](int row) { set_row_aside(row); }));
        reader_.look([&](const OddValue& odd) { add_cell(odd.row, odd.column, odd.value); });
        sums_.fit_columns(reader_.largest.data());
        reader_.rows.sort_by_group();
        for (int r = 0; r < reader_.rows.n_runs; ++r) expect(reader_.rows.runs[r]);
        sweep();
    }

    void finish() { sums_.flush(); }

private:
    void expect(const Run& run) {
        sums_.expect(run);
        if (first_column_ == 0) reader_.add_weight(run, tables_.weight);
    }

    void set_row_aside(int row) {
        for (int c = 0; c < reader_.values.columns; ++c) add_cell(row, c, reader_.values.row(row)[c]);
        const int32_t group = std::exchange(reader_.rows.groups[row], -1);
        if (first_column_ == 0) tables_.weight.add(group, reader_.rows.weight(row));
    }

    void add_cell(int row, int column, double x) {
        const int32_t group = reader_.rows.groups[row];
        if (group >= 0) add_cell(tables_.entry(group, first_column_ + column), reader_.rows.weight(row), x);
    }

    void add_cell(std::size_t entry, double w, double x) {
        if (std::isinf(x)) throw first_infinite(matrix_, all_rows_);
        if (std::isnan(x)) {
            tables_.missing.add(entry, w);
        } else {
            tables_.total.add_product(entry, w, x);
            tables_.squares.add_product(entry, w, x, x);
        }
    }

    void sweep() {
        const Tile tile = reader_.tile(sums_.grids);
        const int n_flagged = sweeps().moments(tile, sums_.sums(), reader_.flagged.get());
        for (int f = 0; f < n_flagged; ++f) add_remainder(tile, reader_.flagged[f]);
        reader_.depth.learn(n_flagged, tile.rows * tile.columns);
    }

    // The sweep has added s^2 for x = s + r; r x + s r is what it still owes.
    void add_remainder(const Tile& tile, const Flagged& cell) {
        const std::size_t entry = tables_.entry(cell.group, first_column_ + cell.column);
        const double x = reader_.values.row(cell.row)[cell.column];
        const double r = remainder_of(x, tile.unit[cell.column], 0, tile.slices);
        if (tile.weights) return add_weighted_remainder(tile, cell, entry, x, r);
        tables_.total.add(entry, r);
        tables_.squares.add_product(entry, r, x);
        tables_.squares.add_product(entry, r, x - r);
    }

    // The same for u x with u = w x = product + error: the sweep owes (u - s_u) x + s_u r.
    void add_weighted_remainder(const Tile& tile, const Flagged& cell, std::size_t entry, double x, double r) {
        const double w = tile.weights[cell.row], unit = tile.unit[cell.column] * tile.weight_unit;
        if (std::abs(x) < kSmallestValue) return add_cell(entry, w, x);
        const TwoTerms u = two_product(w, x);
        const int slices = tile.slices + kMoreWeightedSlices;
        const TwoTerms left = {remainder_of(u.high, unit, 0, slices), remainder_of(u.low, unit, 2, slices)};
        tables_.total.add(entry, left.high);
        tables_.total.add(entry, left.low);
        tables_.squares.add_product(entry, left.high, x);
        tables_.squares.add_product(entry, left.low, x);
        tables_.squares.add_product(entry, u.high - left.high, r);
        tables_.squares.add_product(entry, u.low - left.low, r);
    }

    const Matrix<T>& matrix_;
    const Rows& all_rows_;
    Tables& tables_;
    int64_t first_column_;
    TileReader<T> reader_;
    BlockSums sums_;
};

// Running sums take about 100 bytes for each group and column of a block: with many groups the blocks are narrow.
int block_width(int64_t n_groups) { return n_groups > 4096 ? kMostLanes : 64; }

// The weight of a group less what is missing in a column.
Digits weight_of_cells(const Digits& groups, const Digits& missing, int64_t n_groups, int64_t n_columns) {
    const bool none_missing =
        std::all_of(missing.digits.begin(), missing.digits.end(), [](auto digit) { return digit == 0; });
    if (none_missing) {
        Digits same = {{}, groups.low, groups.limbs};
        same.digits.reserve(groups.digits.size() * static_cast<std::size_t>(n_columns));
        for (auto group = groups.digits.begin(); group != groups.digits.end(); group += groups.limbs)
            for (int64_t column = 0; column < n_columns; ++column)
                same.digits.insert(same.digits.end(), group, group + groups.limbs);
        return same;
    }
    ExactTable weight(static_cast<std::size_t>(n_groups * n_columns));
    for (int64_t group = 0, entry = 0; group < n_groups; ++group)
        for (int64_t column = 0; column < n_columns; ++column, ++entry) {
            weight.add_digits(entry, groups, group, 1);
            weight.add_digits(entry, missing, entry, -1);
        }
    return weight.take();
}

}  // namespace

template <class T>
Moments moments(const Matrix<T>& values, const Rows& rows) {
    Tables tables(rows.n_groups, values.columns, rows.weighted());
    const int width = block_width(rows.n_groups);
    for (int64_t first = 0; first < values.columns; first += width) {
        const int columns = static_cast<int>(std::min<int64_t>(width, values.columns - first));
        BlockSweep<T> block(values, rows, tables, first, columns);
        for_each_tile(values.rows, kTileRows, [&](int64_t first_row, int n_rows) { block.add(first_row, n_rows); });
        block.finish();
    }
    return {weight_of_cells(tables.weight.take(), tables.missing.take(), rows.n_groups, values.columns),
            tables.total.take(), tables.squares.take()};
}

Digits accumulate(const Matrix<double>& values) { return moments(values, Rows{}).total; }

template Moments moments(const Matrix<float>&, const Rows&);
template Moments moments(const Matrix<double>&, const Rows&);

}  // namespace bayeswise::exact
