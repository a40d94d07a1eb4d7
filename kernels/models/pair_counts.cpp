// How often each pair of levels of any two columns occurs together, by group, in one sweep.
//
// A row is a vector of zeros and ones, one slot for each level of each column and one for missing; the counts of all
// pairs are the sum of its products with itself. A tile of rows becomes one bitmap for each slot, and a product of two
// slots is the number of bits that both have. The first level of a column is not counted: it follows from the others.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "common/bitmaps.hpp"
#include "common/require.hpp"
#include "exact/rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::models {

namespace {

using exact::CodeOutOfRange, exact::Matrix, exact::Rows, exact::Vector;

constexpr int64_t kTileRows = 1 << 14;

struct Columns {
    std::vector<int64_t> first_slot, n_slots;  // the last slot of a column is for missing
    int64_t slots = 0;
    std::vector<int> narrow, wide;  // wide ones have too many slots for bitmaps

    Columns(const std::vector<int64_t>& sizes, int64_t most_slots) {
        for (std::size_t c = 0; c < sizes.size(); ++c) {
            require(sizes[c] >= 0, "a column cannot have a negative number of values");
            first_slot.push_back(slots);
            n_slots.push_back(sizes[c] + 1);
            slots += sizes[c] + 1;
            (sizes[c] < most_slots ? narrow : wide).push_back(static_cast<int>(c));
        }
    }
};

template <class Code, class Slot>
class PairSweep {
public:
    PairSweep(const Matrix<Code>& codes, const Rows& rows, Vector<int64_t> weights, const Columns& columns,
              int64_t* table)
        : codes_(codes), rows_(rows), weights_(weights), columns_(columns), table_(table), place_(kTileRows),
          begin_(static_cast<std::size_t>(rows.n_groups) + 1) {}

    void run() {
        for (int64_t first = 0; first < codes_.rows; first += kTileRows) {
            const int64_t n_rows = std::min(kTileRows, codes_.rows - first);
            place_rows(first, n_rows);
            read(first, n_rows);
            count_bitmaps();
            count_one_by_one();
        }
        complete();
    }

private:
    // Rows of one group side by side, each group from a whole word on.
    void place_rows(int64_t first, int64_t n_rows) {
        std::fill(begin_.begin(), begin_.end(), 0);
        for (int64_t r = 0; r < n_rows; ++r) {
            const int32_t group = rows_.group(first + r);
            place_[r] = group;
            if (group >= 0) ++begin_[group];
        }
        int64_t next = 0;
        for (int64_t g = 0; g < rows_.n_groups; ++g) {
            const int64_t size = begin_[g];
            begin_[g] = next;
            next += (size + kWordBits - 1) / kWordBits * kWordBits;
        }
        begin_[rows_.n_groups] = padded_ = next;
        end_ = begin_;
        for (int64_t r = 0; r < n_rows; ++r)
            if (place_[r] >= 0) place_[r] = end_[place_[r]]++;
    }

    // The slot of each cell, column by column; where there is no row, a slot that no column has.
    void read(int64_t first, int64_t n_rows) {
        slots_.assign(codes_.columns * padded_, none);
        if (weights_) weight_.assign(static_cast<std::size_t>(padded_), 0);
        for (int64_t from = 0; from < n_rows; from += kWordBits) {
            const int64_t to = std::min(n_rows, from + kWordBits);
            for (int64_t c = 0; c < codes_.columns; ++c) {
                const Vector<Code> cell = {codes_.data + first * codes_.row_stride + c * codes_.column_stride,
                                           codes_.row_stride};
                const int64_t n_levels = columns_.n_slots[c] - 1;
                Slot* slots = slots_.data() + c * padded_;
                for (int64_t r = from; r < to; ++r) {
                    const auto code = static_cast<int64_t>(cell[r]);
                    if (place_[r] < 0) continue;
                    if (code < -1 || code >= n_levels) throw CodeOutOfRange(first + r, c);
                    slots[place_[r]] = static_cast<Slot>(code < 0 ? n_levels : code);
                }
            }
            for (int64_t r = from; weights_ && r < to; ++r)
                if (place_[r] >= 0) weight_[static_cast<std::size_t>(place_[r])] = weights_[first + r];
        }
    }

    // Products of the bitmaps that have a bit, group by group.
    void count_bitmaps() {
        const int64_t n_words = padded_ / kWordBits;
        int64_t n_maps = 0;
        for (const int c : columns_.narrow) n_maps += columns_.n_slots[c];
        maps_.resize(static_cast<std::size_t>(n_maps * n_words));
        std::vector<int64_t> slot_of_map;
        uint64_t* maps = maps_.data();
        for (const int c : columns_.narrow) {
            const int64_t n_slots = columns_.n_slots[c];
            pack(slots_.data() + c * padded_, n_words, n_slots, maps, n_words);
            maps += n_slots * n_words;
            for (int64_t s = 0; s < n_slots; ++s) slot_of_map.push_back(columns_.first_slot[c] + s);
        }
        for (int64_t g = 0; g < rows_.n_groups; ++g) {
            const int64_t from = begin_[g] / kWordBits, to = begin_[g + 1] / kWordBits;
            if (from < to) count_group(g, slot_of_map, n_words, from, to - from);
        }
    }

    void count_group(int64_t group, const std::vector<int64_t>& slot_of_map, int64_t stride, int64_t from,
                     int64_t n_words) {
        std::vector<const uint64_t*> chosen;
        std::vector<int64_t> slots;
        std::size_t map = 0;
        int64_t* table = table_ + group * columns_.slots * columns_.slots;
        for (const int c : columns_.narrow)
            for (int64_t s = 0; s < columns_.n_slots[c]; ++s, ++map) {
                const uint64_t* words = maps_.data() + static_cast<int64_t>(map) * stride + from;
                if (std::all_of(words, words + n_words, [](uint64_t word) { return word == 0; })) continue;
                if (s == 0) {
                    table[slot_of_map[map] * (columns_.slots + 1)] += common_bits(words, words, n_words);
                    continue;
                }
                chosen.push_back(words);
                slots.push_back(slot_of_map[map]);
            }
        add_common_bits(chosen, slots, n_words, table, columns_.slots);
    }

    // Pairs with a wide column, and the wide columns by themselves.
    void count_one_by_one() {
        for (const int wide : columns_.wide) {
            for (const int narrow : columns_.narrow) count_pair(std::min(narrow, wide), std::max(narrow, wide));
            for (const int other : columns_.wide)
                if (wide <= other) count_pair(wide, other);
        }
    }

    void count_pair(int one, int other) {
        const Slot *left = slots_.data() + one * padded_, *right = slots_.data() + other * padded_;
        for (int64_t g = 0; g < rows_.n_groups; ++g) {
            int64_t* table =
                table_ + (g * columns_.slots + columns_.first_slot[one]) * columns_.slots + columns_.first_slot[other];
            if (weights_)
                for (int64_t r = begin_[g]; r < end_[g]; ++r)
                    table[left[r] * columns_.slots + right[r]] += weight_[static_cast<std::size_t>(r)];
            else
                for (int64_t r = begin_[g]; r < end_[g]; ++r) ++table[left[r] * columns_.slots + right[r]];
        }
    }

    // What the first slots of narrow columns have is what the others leave; then the other half of the table.
    void complete() {
        const int64_t n = columns_.slots;
        for (int64_t g = 0; g < rows_.n_groups; ++g) {
            int64_t* table = table_ + g * n * n;
            for (const int c : columns_.narrow)
                for (const int d : columns_.narrow)
                    if (c < d) complete_pair(table, c, d);
            for (int64_t s = 0; s < n; ++s)
                for (int64_t t = s + 1; t < n; ++t) table[t * n + s] = table[s * n + t];
        }
    }

    void complete_pair(int64_t* table, int c, int d) const {
        const int64_t n = columns_.slots, first_c = columns_.first_slot[c], first_d = columns_.first_slot[d];
        const auto single = [&](int64_t slot) { return table[slot * (n + 1)]; };
        for (int64_t s = first_c; s < first_c + columns_.n_slots[c]; ++s) {
            if (s == first_c) continue;
            int64_t left = single(s);
            for (int64_t t = first_d + 1; t < first_d + columns_.n_slots[d]; ++t) left -= table[s * n + t];
            table[s * n + first_d] = left;
        }
        for (int64_t t = first_d; t < first_d + columns_.n_slots[d]; ++t) {
            int64_t left = single(t);
            for (int64_t s = first_c + 1; s < first_c + columns_.n_slots[c]; ++s) left -= table[s * n + t];
            table[first_c * n + t] = left;
        }
    }

    static constexpr Slot none = static_cast<Slot>(~Slot{0});

    const Matrix<Code> codes_;
    const Rows rows_;
    const Vector<int64_t> weights_;
    const Columns& columns_;
    int64_t* table_;                    // (n_groups, slots, slots)
    std::vector<int64_t> place_;        // of each row of the tile, -1 if it is left out
    std::vector<int64_t> begin_, end_;  // of each group
    int64_t padded_ = 0;
    std::vector<Slot> slots_;  // (n_columns, padded)
    std::vector<int64_t> weight_;
    std::vector<uint64_t> maps_;  // (n_maps, padded / 64)
};

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Sizes = nb::ndarray<const int64_t, nb::ndim<1>, nb::device::cpu>;
using Groups = std::optional<nb::ndarray<const int32_t, nb::ndim<1>, nb::device::cpu>>;
using Weights = std::optional<nb::ndarray<const int64_t, nb::ndim<1>, nb::device::cpu>>;
using Table = nb::ndarray<int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class T, class Array>
Vector<T> view(const std::optional<Array>& array, std::size_t n_rows) {
    if (!array) return {};
    require(array->shape(0) == n_rows, "groups or weights do not have one entry for each row");
    return {reinterpret_cast<const char*>(array->data()), array->stride(0) * static_cast<int64_t>(sizeof(T))};
}

template <class Code>
bool swept(const AnyMatrix& array, const Rows& rows, Vector<int64_t> weights, const Columns& columns, int64_t* table) {
    if (array.dtype() != nb::dtype<Code>()) return false;
    const int64_t size = sizeof(Code);
    const Matrix<Code> codes = {static_cast<const char*>(array.data()), static_cast<int64_t>(array.shape(0)),
                                static_cast<int64_t>(array.shape(1)), array.stride(0) * size, array.stride(1) * size};
    const nb::gil_scoped_release unlocked;
    const auto& n_slots = columns.n_slots;
    if (std::all_of(n_slots.begin(), n_slots.end(), [](int64_t n) { return n < 256; }))
        PairSweep<Code, uint8_t>(codes, rows, weights, columns, table).run();
    else
        PairSweep<Code, uint32_t>(codes, rows, weights, columns, table).run();
    return true;
}

void pair_counts(const AnyMatrix& codes, const Sizes& sizes, const Groups& groups, const Weights& weights,
                 const Table& table) {
    std::vector<int64_t> copy(sizes.shape(0));
    for (std::size_t c = 0; c < copy.size(); ++c) copy[c] = sizes(c);
    const Columns columns(copy, weights ? 0 : most_slots_for_bitmaps());
    const auto slots = static_cast<std::size_t>(columns.slots);
    require(copy.size() == codes.shape(1) && table.shape(1) == slots && table.shape(2) == slots,
            "sizes, columns and the table do not fit");
    const Rows rows = {view<int32_t>(groups, codes.shape(0)), {}, static_cast<int64_t>(table.shape(0))};
    const Vector<int64_t> weigh = view<int64_t>(weights, codes.shape(0));
    int64_t* out = table.data();
    if (!swept<int8_t>(codes, rows, weigh, columns, out) && !swept<uint8_t>(codes, rows, weigh, columns, out) &&
        !swept<int16_t>(codes, rows, weigh, columns, out) && !swept<int32_t>(codes, rows, weigh, columns, out) &&
        !swept<int64_t>(codes, rows, weigh, columns, out))
        throw nb::type_error("codes must be int8, uint8, int16, int32 or int64");
}

}  // namespace

void bind_pair_counts(nb::module_& m) {
    m.def("pair_counts", &pair_counts, "codes"_a.noconvert(), "sizes"_a.noconvert(), "groups"_a.noconvert().none(),
          "weights"_a.noconvert().none(), "table"_a.noconvert(),
          "How often each pair of codes of any two columns occurs by group; the table must be zero.");
}

}  // namespace bayeswise::models
