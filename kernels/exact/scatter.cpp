#include "exact/sums.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "exact/arithmetic.hpp"
#include "exact/running_sums.hpp"
#include "exact/sweep/sweep.hpp"
#include "exact/tile.hpp"

namespace bayeswise::exact {

namespace {

struct Tables {
    Tables(int64_t groups, int64_t columns)
        : weight(groups), total(groups * columns), cross(groups * (columns * (columns + 1) / 2)), incomplete(groups),
          columns_(columns) {}

    std::size_t entry(int32_t group, int i) const { return group * columns_ + i; }
    std::size_t entry(int32_t group, int i, int j) const {
        const int64_t low = std::min(i, j), high = std::max(i, j);
        return group * (columns_ * (columns_ + 1) / 2) + high * (high + 1) / 2 + low;
    }

    ExactTable weight, total, cross, incomplete;

private:
    int64_t columns_;
};

// Running integer sums of all columns and pairs of columns, by group.
class PairSums : public RunningSums<PairSums> {
public:
    PairSums(Tables& tables, int columns, int64_t n_groups, bool weighted)
        : RunningSums(columns, n_groups), tables_(tables), columns_(columns), lanes_(sweeps().lanes),
          weighted_(weighted), row_start_(starts_of_rows()), total_size_(total_levels(weighted) * padded(columns)),
          cross_size_(row_start_.back() * product_levels(weighted) * lanes_), totals_(n_groups * total_size_),
          cross_(n_groups * cross_size_) {}

    ColumnSums totals() { return {totals_.data(), total_size_}; }
    CrossSums cross() { return {cross_.data(), cross_size_, row_start_.data()}; }

    void flush_group(std::size_t group) {
        for (int i = 0; i < columns_; ++i) {
            flush_total(group, i);
            for (int j = 0; j <= i; ++j) flush_pair(group, i, j);
        }
        std::fill_n(cross_.data() + group * cross_size_, cross_size_, 0);  // vectors reach beyond the diagonal
    }

    // All that has to do with a column.
    void flush_column(std::size_t group, int column) {
        flush_total(group, column);
        for (int other = 0; other < columns_; ++other)
            flush_pair(group, std::max(column, other), std::min(column, other));
    }

private:
    // Row i of the triangle has the vectors of columns 0 .. i, and those of the rows it is worked on with.
    std::vector<int64_t> starts_of_rows() const {
        std::vector<int64_t> start = {0};
        for (int i = 0; i < padded(columns_); ++i)
            start.push_back(start.back() + (i / kCrossRows * kCrossRows + kCrossRows - 1) / lanes_ + 1);
        return start;
    }

    void flush_total(std::size_t group, int i) {
        if (!grids.chosen(i)) return;
        move(totals_.data() + group * total_size_ + i, padded(columns_), total_levels(weighted_), tables_.total,
             tables_.entry(static_cast<int32_t>(group), i), grids.weighted_unit_exponent(i));
    }

    void flush_pair(std::size_t group, int i, int j) {
        if (!grids.chosen(i) || !grids.chosen(j)) return;
        const int64_t vector = (row_start_[i] + j / lanes_) * product_levels(weighted_);
        move(cross_.data() + group * cross_size_ + vector * lanes_ + j % lanes_, lanes_, product_levels(weighted_),
             tables_.cross, tables_.entry(static_cast<int32_t>(group), i, j),
             grids.weighted_unit_exponent(i) + grids.unit_exponent(j));
    }

    Tables& tables_;
    int columns_, lanes_;
    bool weighted_;
    std::vector<int64_t> row_start_;
    int64_t total_size_, cross_size_;
    std::vector<int64_t> totals_, cross_;
};

template <class T>
class ScatterSweep {
public:
    ScatterSweep(const Matrix<T>& matrix, const Rows& rows, Tables& tables)
        : matrix_(matrix), all_rows_(rows), tables_(tables), columns_(static_cast<int>(matrix.columns)),
          reader_(matrix, rows, 0, columns_), sums_(tables, columns_, rows.n_groups, rows.weighted()),
          right_(new double[packed_size(kMaxSlices)]),
          left_(rows.weighted() ? new double[packed_size(kMaxWeightedSlices)] : nullptr) {}

    void add(int64_t first_row, int n_rows) {
        reader_.read(first_row, n_rows);
        if (all_rows_.weighted())
            sums_.fit_weights(reader_.largest_weight([&](int row) { set_aside(row, reader_.values.row(row)); }));
        set_odd_rows_aside();
        sums_.fit_columns(reader_.largest.data());
        reader_.rows.sort_by_group();
        for (int r = 0; r < reader_.rows.n_runs; ++r) expect(reader_.rows.runs[r]);
        sweep();
    }

    void finish() { sums_.flush(); }

private:
    std::size_t packed_size(int slices) const {
        return static_cast<std::size_t>(kTileRows) * padded(columns_) * slices;
    }

    void expect(const Run& run) {
        sums_.expect(run);
        reader_.add_weight(run, tables_.weight);
    }

    void set_odd_rows_aside() {
        std::vector<double>& x = odd_row_;
        int row = -1;
        const auto finish_row = [&] {
            if (row >= 0 && reader_.rows.groups[row] >= 0) set_aside(row, x.data());
        };
        reader_.look([&](const OddValue& odd) {
            if (odd.row != row) {
                finish_row();
                row = odd.row;
                x.assign(reader_.values.row(row), reader_.values.row(row) + columns_);
            }
            x[odd.column] = odd.value;
        });
        finish_row();
    }

    // Adds a row to the exact tables instead of the sweep.
    void set_aside(int row, const double* x) {
        const int32_t group = std::exchange(reader_.rows.groups[row], -1);
        if (std::any_of(x, x + columns_, [](double value) { return std::isinf(value); }))
            throw first_infinite(matrix_, all_rows_);
        const double w = reader_.rows.weight(row);
        const bool complete = std::none_of(x, x + columns_, [](double value) { return std::isnan(value); });
        (complete ? tables_.weight : tables_.incomplete).add(group, w);
        for (int i = 0; complete && i < columns_; ++i) {
            tables_.total.add_product(tables_.entry(group, i), w, x[i]);
            for (int j = 0; j <= i; ++j) tables_.cross.add_product(tables_.entry(group, i, j), w, x[i], x[j]);
        }
    }

    void sweep() {
        const Tile tile = reader_.tile(sums_.grids);
        const Packed packed = {left_ ? left_.get() : right_.get(), right_.get()};
        const int n_flagged = sweeps().pack(tile, packed, sums_.totals(), reader_.flagged.get());
        sweeps().multiply(tile, packed, sums_.cross());
        for (int f = 0; f < n_flagged; ++f) add_remainder(tile, reader_.flagged[f]);
        reader_.depth.learn(n_flagged, tile.rows * tile.columns);
    }

    // u = w x as the sum of two terms, and what the sweep has taken of them.
    struct Weighted {
        TwoTerms taken, left;
    };

    Weighted weighted(const Tile& tile, int row, int column) const {
        const double x = reader_.values.row(row)[column], unit = tile.unit[column] * tile.weight_unit;
        if (tile.weights && std::abs(x) < kSmallestValue) return {{0, 0}, {0, 0}};
        const TwoTerms u = tile.weights ? two_product(tile.weights[row], x) : TwoTerms{x, 0};
        const int slices = tile.slices + (tile.weights ? kMoreWeightedSlices : 0);
        const TwoTerms left = {remainder_of(u.high, unit, 0, slices), remainder_of(u.low, unit, 2, slices)};
        return {{u.high - left.high, u.low - left.low}, left};
    }

    // For u_i x_j the sweep has added s_i t_j, with u = s + (rest of u) and x = t + (rest of x): it owes
    // (rest of u_i) x_j + s_i (rest of x_j). The pairs of a flagged column c are (c, j <= c) and (i >= c, c).
    void add_remainder(const Tile& tile, const Flagged& cell) {
        const int c = cell.column;
        const double* x = reader_.values.row(cell.row);
        const double rest = remainder_of(x[c], tile.unit[c], 0, tile.slices);
        const Weighted u = weighted(tile, cell.row, c);
        const std::size_t entry = tables_.entry(cell.group, c);
        tables_.total.add(entry, u.left.high);
        tables_.total.add(entry, u.left.low);
        for (int j = 0; j <= c; ++j) {
            tables_.cross.add_product(tables_.entry(cell.group, c, j), u.left.high, x[j]);
            tables_.cross.add_product(tables_.entry(cell.group, c, j), u.left.low, x[j]);
        }
        for (int i = c; i < columns_; ++i) {
            const TwoTerms taken = weighted(tile, cell.row, i).taken;
            tables_.cross.add_product(tables_.entry(cell.group, i, c), taken.high, rest);
            tables_.cross.add_product(tables_.entry(cell.group, i, c), taken.low, rest);
        }
        if (tile.weights && std::abs(x[c]) < kSmallestValue) add_tiny(tile.weights[cell.row], cell, x);
    }

    // The sweep has taken nothing of w x_c.
    void add_tiny(double w, const Flagged& cell, const double* x) {
        const int c = cell.column;
        tables_.total.add_product(tables_.entry(cell.group, c), w, x[c]);
        for (int j = 0; j <= c; ++j) tables_.cross.add_product(tables_.entry(cell.group, c, j), w, x[c], x[j]);
    }

    const Matrix<T>& matrix_;
    const Rows& all_rows_;
    Tables& tables_;
    int columns_;
    TileReader<T> reader_;
    PairSums sums_;
    std::unique_ptr<double[]> right_, left_;  // as in Packed
    std::vector<double> odd_row_;
};

// As many rows as make about a megabyte of slices: long runs of rows of one group, near the processor.
int rows_of_tile(int64_t columns) {
    const int64_t row = (columns + kMostLanes) * kMaxSlices * static_cast<int64_t>(sizeof(double));
    return static_cast<int>(std::clamp<int64_t>((1 << 20) / row, kChainRows, kTileRows));
}

}  // namespace

template <class T>
Scatter scatter(const Matrix<T>& values, const Rows& rows) {
    Tables tables(rows.n_groups, values.columns);
    ScatterSweep<T> sweep(values, rows, tables);
    for_each_tile(values.rows, rows_of_tile(values.columns),
                  [&](int64_t first_row, int n_rows) { sweep.add(first_row, n_rows); });
    sweep.finish();
    return {tables.weight.take(), tables.total.take(), tables.cross.take(), tables.incomplete.take()};
}

template Scatter scatter(const Matrix<float>&, const Rows&);
template Scatter scatter(const Matrix<double>&, const Rows&);

}  // namespace bayeswise::exact
