// Running integer sums of groups on the grids of their columns, on their way to exact tables.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/grid.hpp"
#include "exact/sweep/sweep.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

// When sums may grow too large, or the grid of a column has to change, they move to the exact tables: Own says how, by
// flush_group(group) and flush_column(group, column).
template <class Own>
class RunningSums {
public:
    RunningSums(int columns, int64_t n_groups) : grids(columns), rows_(static_cast<std::size_t>(n_groups)) {}

    void fit_columns(const double* largest) {
        grids.fit_columns(largest, [&](int column) {
            for (std::size_t group = 0; group < rows_.size(); ++group)
                if (rows_[group] > 0) own().flush_column(group, column);
        });
    }

    void fit_weights(double largest) {
        grids.fit_weights(largest, [&] { flush(); });
    }

    // Makes room for the rows that are about to be added.
    void expect(const Run& run) {
        if (rows_[run.group] + run.size() > kRowsBeforeFlush) flush(run.group);
        rows_[run.group] += run.size();
    }

    void flush() {
        for (std::size_t group = 0; group < rows_.size(); ++group) flush(group);
    }

    Grids grids;

protected:
    // Adds the levels of a sum, which lie `step` apart, to an entry of a table, and sets them to zero.
    static void move(int64_t* sum, int step, int levels, ExactTable& table, std::size_t entry, int exponent) {
        for (int level = 0; level < levels; ++level, sum += step) {
            table.add_integer(entry, *sum, exponent - kSliceBits * level);
            *sum = 0;
        }
    }

private:
    Own& own() { return static_cast<Own&>(*this); }

    void flush(std::size_t group) {
        if (rows_[group] > 0) own().flush_group(group);
        rows_[group] = 0;
    }

    std::vector<int> rows_;  // in the sums, by group
};

}  // namespace bayeswise::exact
