#include "exact/sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/cache.hpp"
#include "common/require.hpp"
#include "exact/grid.hpp"
#include "exact/tile.hpp"

namespace bayeswise::exact {

namespace {

// The first wrong code in row order; there is one.
template <class Code>
CodeOutOfRange first_wrong_code(const Matrix<Code>& codes, const std::vector<int64_t>& sizes, const Rows& rows) {
    for (int64_t row = 0; row < codes.rows; ++row)
        for (int64_t column = 0; column < codes.columns; ++column) {
            const auto code = static_cast<int64_t>(codes.row(row)[column]);
            if (rows.group(row) >= 0 && (code < -1 || code >= sizes[column])) return {row, column};
        }
    return {0, 0};
}

// While counting, a column's slot for missing is its first one: code c lies at slot first + 1 + c.
template <class T>
void move_missing_last(std::vector<T>& table, const CountLayout& layout, int width) {
    for (std::size_t begin = 0; begin < table.size(); begin += layout.slots * width)
        for (std::size_t column = 0; column < layout.sizes.size(); ++column) {
            const auto first = table.begin() + begin + layout.first_slot[column] * width;
            std::rotate(first, first + width, first + (layout.sizes[column] + 1) * width);
        }
}

constexpr int kRowsAhead = 16;

void expect_row(const char* row, int64_t size) {
    for (int64_t byte = 0; byte < size; byte += 64) expect(row + byte);
}

// Calls count(slot, row of the tile) for the cells of a tile, along the axis on which codes lie side by side; the
// answer says whether all codes were in range. Slots have missing first; a row that is left out has the offset -1.
template <class Code, class Count>
bool count_tile(const Matrix<Code>& codes, int64_t first_row, int n_rows, const CountLayout& layout,
                const int64_t* offset_of_row, Count count) {
    const int64_t *sizes = layout.sizes.data(), *first_slots = layout.first_slot.data();
    const int64_t n_columns = codes.columns, row_size = n_columns * static_cast<int64_t>(sizeof(Code));
    const auto cell = [&](Code code, int64_t column, int64_t offset, int row) {
        const uint64_t slot = static_cast<uint64_t>(static_cast<int64_t>(code)) + 1;
        if (slot > static_cast<uint64_t>(sizes[column])) return false;
        count(offset + first_slots[column] + static_cast<int64_t>(slot), row);
        return true;
    };
    if (codes.column_stride == sizeof(Code)) {
        for (int row = 0; row < n_rows; ++row) {
            const int64_t offset = offset_of_row[row];
            const Vector<Code> code = {codes.data + (first_row + row) * codes.row_stride, sizeof(Code)};
            const bool more = first_row + row + kRowsAhead < codes.rows;
            if (more) expect_row(code.data + kRowsAhead * codes.row_stride, row_size);
            for (int64_t column = 0; offset >= 0 && column < n_columns; ++column)
                if (!cell(code[column], column, offset, row)) return false;
        }
    } else {
        for (int64_t column = 0; column < n_columns; ++column) {
            const Vector<Code> code = {codes.data + first_row * codes.row_stride + column * codes.column_stride,
                                       codes.row_stride};
            for (int row = 0; row < n_rows; ++row) {
                const int64_t offset = offset_of_row[row];
                if (offset >= 0 && !cell(code[row], column, offset, row)) return false;
            }
        }
    }
    return true;
}

// Counts all tiles; prepare(rows of the tile, their number) is called before a tile is counted.
template <class Code, class Prepare, class Count>
void count_rows(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows, Prepare prepare, Count count) {
    TileRows tile(rows);
    int64_t offsets[kTileRows];
    for_each_tile(codes.rows, kTileRows, [&](int64_t first_row, int n_rows) {
        tile.read(first_row, n_rows);
        for (int r = 0; r < n_rows; ++r) offsets[r] = tile.groups[r] < 0 ? -1 : tile.groups[r] * layout.slots;
        prepare(tile, n_rows);
        if (!count_tile(codes, first_row, n_rows, layout, offsets, count))
            throw first_wrong_code(codes, layout.sizes, rows);
    });
}

// Sums of weights by slot, as two integers each: w = n_0 unit + n_1 unit 2^-43 with |n| <= 2^42, unless w is odd or
// much smaller than the others; then what is left over goes to the exact table. 2^20 rows stay within 2^62.
class WeightSums {
public:
    explicit WeightSums(std::size_t slots) : sums_(2 * slots), table_(slots) {}

    // Cuts the weights of a tile.
    void prepare(const TileRows& rows, int n_rows) {
        double largest = 0;
        for (int r = 0; r < n_rows; ++r)
            if (rows.groups[r] >= 0 && !is_odd_weight(rows.weights[r])) largest = std::max(largest, rows.weights[r]);
        if (!grid_.serves(largest) || rows_ + n_rows > kRowsBeforeFlush) flush();
        if (!grid_.serves(largest)) grid_.choose(largest);
        rows_ += n_rows;
        for (int r = 0; r < n_rows; ++r)
            if (rows.groups[r] >= 0) cut(rows.weights[r], parts_[r]);
    }

    void add(std::size_t slot, int row) {
        const Parts& parts = parts_[row];
        sums_[2 * slot] += parts.first;
        sums_[2 * slot + 1] += parts.second;
        if (parts.rest != 0) table_.add(slot, parts.rest);
    }

    Digits take() {
        flush();
        return table_.take();
    }

private:
    static constexpr int first_bits = 42, second_bits = 43, kRowsBeforeFlush = 1 << 20;

    struct Parts {
        int64_t first, second;
        double rest;
    };

    void cut(double w, Parts& parts) const {
        parts = {0, 0, w};
        if (is_odd_weight(w)) return;
        const double scaled = std::ldexp(w, first_bits - grid_.exponent()), first = std::nearbyint(scaled);
        const double finer = (scaled - first) * 0x1p43, second = std::nearbyint(finer);
        parts.first = static_cast<int64_t>(first);
        parts.second = static_cast<int64_t>(second);
        parts.rest = finer == second ? 0 : std::ldexp(finer - second, grid_.exponent() - first_bits - second_bits);
    }

    void flush() {
        const int exponent = grid_.exponent() - first_bits;
        for (std::size_t slot = 0; slot < sums_.size() / 2; ++slot) {
            table_.add_integer(slot, std::exchange(sums_[2 * slot], 0), exponent);
            table_.add_integer(slot, std::exchange(sums_[2 * slot + 1], 0), exponent - second_bits);
        }
        rows_ = 0;
    }

    std::vector<int64_t> sums_;
    ExactTable table_;
    Grid grid_;
    int rows_ = 0;
    Parts parts_[kTileRows];
};

std::size_t product(const std::vector<int64_t>& sizes) {
    std::size_t cells = 1;
    for (const int64_t size : sizes) {
        require(size == 0 || cells <= (std::numeric_limits<std::size_t>::max() >> 4) / static_cast<std::size_t>(size),
                "the joint table has too many cells");
        cells *= static_cast<std::size_t>(size);
    }
    return cells;
}

// Calls count(cell, row) for a complete row and incomplete(row) for one with a missing code.
template <class Code, class Count, class Incomplete>
void for_each_row(const Matrix<Code>& codes, const std::vector<int64_t>& sizes, const Rows& rows, Count count,
                  Incomplete incomplete) {
    for (int64_t row = 0; row < codes.rows; ++row) {
        if (rows.group(row) < 0) continue;
        const Vector<Code> code = codes.row(row);
        std::size_t cell = 0;
        bool complete = true;
        for (int64_t column = 0; column < codes.columns; ++column) {
            const int64_t value = static_cast<int64_t>(code[column]), size = sizes[column];
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

CountLayout::CountLayout(std::vector<int64_t> sizes_of_columns) : sizes(std::move(sizes_of_columns)) {
    for (const int64_t size : sizes) {
        require(size >= 0, "a column cannot have a negative number of values");
        first_slot.push_back(slots);
        slots += size + 1;
    }
}

template <class Code>
std::vector<int64_t> counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows) {
    std::vector<int64_t> table(static_cast<std::size_t>(rows.n_groups * layout.slots));
    count_rows(
        codes, layout, rows, [](const TileRows&, int) {}, [slots = table.data()](int64_t slot, int) { ++slots[slot]; });
    move_missing_last(table, layout, 1);
    return table;
}

template <class Code>
Digits weighted_counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows) {
    WeightSums sums(static_cast<std::size_t>(rows.n_groups * layout.slots));
    count_rows(
        codes, layout, rows, [&](const TileRows& tile, int n_rows) { sums.prepare(tile, n_rows); },
        [&](std::size_t slot, int row) { sums.add(slot, row); });
    Digits table = sums.take();
    move_missing_last(table.digits, layout, table.limbs);
    return table;
}

template <class Code>
JointCounts joint_counts(const Matrix<Code>& codes, const std::vector<int64_t>& sizes, const Rows& rows) {
    JointCounts result{std::vector<int64_t>(product(sizes)), 0};
    for_each_row(
        codes, sizes, rows, [&](std::size_t cell, int64_t) { ++result.table[cell]; },
        [&](int64_t) { ++result.incomplete; });
    return result;
}

template <class Code>
WeightedJointCounts weighted_joint_counts(const Matrix<Code>& codes, const std::vector<int64_t>& sizes,
                                          const Rows& rows) {
    ExactTable table(product(sizes)), incomplete(1);
    for_each_row(
        codes, sizes, rows, [&](std::size_t cell, int64_t row) { table.add(cell, rows.weight(row)); },
        [&](int64_t row) { incomplete.add(0, rows.weight(row)); });
    return {table.take(), incomplete.take()};
}

#define BAYESWISE_COUNTS_OF(Code)                                                                     \
    template std::vector<int64_t> counts(const Matrix<Code>&, const CountLayout&, const Rows&);       \
    template Digits weighted_counts(const Matrix<Code>&, const CountLayout&, const Rows&);            \
    template JointCounts joint_counts(const Matrix<Code>&, const std::vector<int64_t>&, const Rows&); \
    template WeightedJointCounts weighted_joint_counts(const Matrix<Code>&, const std::vector<int64_t>&, const Rows&);

BAYESWISE_COUNTS_OF(int8_t)
BAYESWISE_COUNTS_OF(uint8_t)
BAYESWISE_COUNTS_OF(int16_t)
BAYESWISE_COUNTS_OF(int32_t)
BAYESWISE_COUNTS_OF(int64_t)

}  // namespace bayeswise::exact
