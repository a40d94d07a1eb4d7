// Word counts of texts, by class: sums of whole numbers over compressed sparse rows, or over columns that count.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::tables {

namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: beyond it, floats skip whole numbers

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Table = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// table[group][word] += cell for every cell; false, with the table half filled, if a cell is not a whole number or the
// sum of all cells could leave 64 bits.
template <typename Index>
bool add_word_counts(Table table, Vector<Index> starts, Vector<Index> words, Vector<double> cells,
                     std::optional<Vector<int32_t>> groups) {
    const int64_t n_rows = static_cast<int64_t>(starts.shape(0)) - 1, n_cells = words.shape(0);
    const int64_t n_groups = table.shape(0), n_words = table.shape(1);
    require(n_rows >= 0 && static_cast<int64_t>(cells.shape(0)) == n_cells &&
                (!groups || static_cast<int64_t>(groups->shape(0)) == n_rows),
            "rows, words, cells and groups differ in length");
    bool whole = true, inside = true;
    {
        nb::gil_scoped_release release;
        double all = 0.0;
        for (int64_t r = 0; r < n_rows && whole && inside; ++r) {
            const int64_t group = groups ? groups->data()[r] : 0;
            const int64_t from = starts.data()[r], to = starts.data()[r + 1];
            inside = group < n_groups && from >= 0 && from <= to && to <= n_cells;
            if (!inside || group < 0) continue;
            int64_t* counts = table.data() + group * n_words;
            for (int64_t at = from; at < to; ++at) {
                const int64_t word = words.data()[at];
                const double cell = cells.data()[at];
                whole &= cell >= 0.0 && cell <= kLargestWhole;
                inside &= word >= 0 && word < n_words;
                if (!(whole && inside)) break;
                const int64_t count = static_cast<int64_t>(cell);
                whole &= static_cast<double>(count) == cell;
                counts[word] += count;
                all += cell;
            }
            whole &= all < kLargestWhole;
        }
    }
    require(inside, "a word or group lies outside the table");
    return whole;
}

// The sum of a row's cells, added to counts as well; a missing cell (NaN) counts as none. Negative if one is not whole.
double add_row(const double* cells, int64_t step, int64_t n_words, double* counts) {
    constexpr double kRounding = kLargestWhole / 2;  // x + 2^52 - 2^52 is x rounded to a whole number
    double sum = 0.0;
    int64_t not_whole = 0;
    for (int64_t word = 0; word < n_words; ++word) {
        const double cell = cells[word * step], count = cell == cell ? cell : 0.0;
        not_whole += !(count >= 0.0 && count < kRounding && (count + kRounding) - kRounding == count);
        counts[word] += count;
        sum += count;
    }
    return not_whole ? -1.0 : sum;
}

// As add_word_counts, of a matrix that has a column for each word.
bool add_cell_counts(Table table, Matrix cells, std::optional<Vector<int32_t>> groups) {
    const int64_t n_rows = cells.shape(0), n_words = cells.shape(1), n_groups = table.shape(0);
    require(static_cast<int64_t>(table.shape(1)) == n_words &&
                (!groups || static_cast<int64_t>(groups->shape(0)) == n_rows),
            "words, cells and groups differ in length");
    bool whole = true, inside = true;
    {
        nb::gil_scoped_release release;
        std::vector<double> counts(n_groups * n_words);  // whole numbers below 2^53, which doubles add exactly
        double all = 0.0;
        for (int64_t r = 0; r < n_rows && whole && inside; ++r) {
            const int64_t group = groups ? groups->data()[r] : 0;
            inside = group < n_groups;
            if (!inside || group < 0) continue;
            const double* row = cells.data() + r * cells.stride(0);
            const double sum = cells.stride(1) == 1
                                   ? add_row(row, 1, n_words, counts.data() + group * n_words)
                                   : add_row(row, cells.stride(1), n_words, counts.data() + group * n_words);
            whole = sum >= 0.0 && (all += sum) < kLargestWhole;
        }
        if (whole && inside)
            for (int64_t at = 0; at < n_groups * n_words; ++at) table.data()[at] += static_cast<int64_t>(counts[at]);
    }
    require(inside, "a group lies outside the table");
    return whole;
}

}  // namespace

void bind_words(nb::module_& m) {
    const char* doc = "table[group, word] += cells; False if a cell is not a whole number";
    m.def("add_word_counts", &add_word_counts<int32_t>, nb::arg("table").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("cells").noconvert(), nb::arg("groups").none(), doc);
    m.def("add_word_counts", &add_word_counts<int64_t>, nb::arg("table").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("cells").noconvert(), nb::arg("groups").none(), doc);
    m.def("add_cell_counts", &add_cell_counts, nb::arg("table").noconvert(), nb::arg("cells").noconvert(),
          nb::arg("groups").none(), doc);
}

}  // namespace bayeswise::tables
