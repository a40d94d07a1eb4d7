#include "exact_counts.h"

#include <limits>
#include <utility>

namespace bayeswise {
namespace {

// Calls count(group, slot, row) for every cell of a row that is not left out.
template <class Code, class Count>
void for_each_cell(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows, Count count) {
    for (std::int64_t row = 0; row < codes.rows; ++row) {
        const std::int32_t group = rows.group(row);
        if (group < 0) continue;
        const Vector<Code> code = codes.row(row);
        for (std::int64_t column = 0; column < codes.columns; ++column) {
            const std::int64_t value = static_cast<std::int64_t>(code[column]), size = layout.sizes[column];
            if (value < -1 || value >= size) throw CodeOutOfRange(row, column);
            count(group * layout.slots + layout.first_slot[column] + (value < 0 ? size : value), row);
        }
    }
}

std::size_t product(const std::vector<std::int64_t>& sizes) {
    std::size_t cells = 1;
    for (const std::int64_t size : sizes) {
        if (size > 0 && cells > (std::numeric_limits<std::size_t>::max() >> 4) / static_cast<std::size_t>(size))
            throw std::invalid_argument("the joint table has too many cells");
        cells *= static_cast<std::size_t>(size);
    }
    return cells;
}

// Calls count(cell, row) for a complete row and incomplete(row) for one with a missing code.
template <class Code, class Count, class Incomplete>
void for_each_row(const Matrix<Code>& codes, const std::vector<std::int64_t>& sizes, const Rows& rows, Count count,
                  Incomplete incomplete) {
    for (std::int64_t row = 0; row < codes.rows; ++row) {
        if (rows.group(row) < 0) continue;
        const Vector<Code> code = codes.row(row);
        std::size_t cell = 0;
        bool complete = true;
        for (std::int64_t column = 0; column < codes.columns; ++column) {
            const std::int64_t value = static_cast<std::int64_t>(code[column]), size = sizes[column];
            if (value < -1 || value >= size) throw CodeOutOfRange(row, column);
            complete = complete && value >= 0;
            cell = cell * static_cast<std::size_t>(size) + static_cast<std::size_t>(value);
        }
        if (complete)
            count(cell, row);
        else
            incomplete(row);
    }
}

}  // namespace

CountLayout::CountLayout(std::vector<std::int64_t> sizes_of_columns) : sizes(std::move(sizes_of_columns)) {
    for (const std::int64_t size : sizes) {
        if (size < 0) throw std::invalid_argument("a column cannot have a negative number of values");
        first_slot.push_back(slots);
        slots += size + 1;
    }
}

template <class Code>
std::vector<std::int64_t> counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows) {
    std::vector<std::int64_t> table(static_cast<std::size_t>(rows.n_groups * layout.slots));
    for_each_cell(codes, layout, rows, [&](std::size_t slot, std::int64_t) { ++table[slot]; });
    return table;
}

template <class Code>
Digits weighted_counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows) {
    ExactTable table(static_cast<std::size_t>(rows.n_groups * layout.slots));
    for_each_cell(codes, layout, rows, [&](std::size_t slot, std::int64_t row) { table.add(slot, rows.weight(row)); });
    return table.take();
}

template <class Code>
JointCounts joint_counts(const Matrix<Code>& codes, const std::vector<std::int64_t>& sizes, const Rows& rows) {
    JointCounts result{std::vector<std::int64_t>(product(sizes)), 0};
    for_each_row(
        codes, sizes, rows, [&](std::size_t cell, std::int64_t) { ++result.table[cell]; },
        [&](std::int64_t) { ++result.incomplete; });
    return result;
}

template <class Code>
WeightedJointCounts weighted_joint_counts(const Matrix<Code>& codes, const std::vector<std::int64_t>& sizes,
                                          const Rows& rows) {
    ExactTable table(product(sizes)), incomplete(1);
    for_each_row(
        codes, sizes, rows, [&](std::size_t cell, std::int64_t row) { table.add(cell, rows.weight(row)); },
        [&](std::int64_t row) { incomplete.add(0, rows.weight(row)); });
    return {table.take(), incomplete.take()};
}

#define BAYESWISE_COUNTS_OF(Code)                                                                               \
    template std::vector<std::int64_t> counts(const Matrix<Code>&, const CountLayout&, const Rows&);            \
    template Digits weighted_counts(const Matrix<Code>&, const CountLayout&, const Rows&);                      \
    template JointCounts joint_counts(const Matrix<Code>&, const std::vector<std::int64_t>&, const Rows&);      \
    template WeightedJointCounts weighted_joint_counts(const Matrix<Code>&, const std::vector<std::int64_t>&, \
                                                       const Rows&);

BAYESWISE_COUNTS_OF(std::int8_t)
BAYESWISE_COUNTS_OF(std::uint8_t)
BAYESWISE_COUNTS_OF(std::int16_t)
BAYESWISE_COUNTS_OF(std::int32_t)
BAYESWISE_COUNTS_OF(std::int64_t)

}  // namespace bayeswise
