// Word counts of texts, by class: sums of whole numbers over compressed sparse rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::tables {

namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: beyond it, floats skip whole numbers

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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

}  // namespace

void bind_words(nb::module_& m) {
    const char* doc = "table[group, word] += cells; False if a cell is not a whole number";
    m.def("add_word_counts", &add_word_counts<int32_t>, nb::arg("table").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("cells").noconvert(), nb::arg("groups").none(), doc);
    m.def("add_word_counts", &add_word_counts<int64_t>, nb::arg("table").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("cells").noconvert(), nb::arg("groups").none(), doc);
}

}  // namespace bayeswise::tables
