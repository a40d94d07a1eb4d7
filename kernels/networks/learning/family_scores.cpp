// Scores of a node with its parents and one more, for many candidates at once: the counts of the family are products of
// bitmaps, the score a sum of a function of each count. Rows with weights are counted one after the other.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "common/bitmaps.hpp"
#include "common/require.hpp"
#include "networks/learning/count_terms.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Codes = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (n_columns, n_rows), 8 or 16 bits
using Weights = std::optional<nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
using Ints = std::vector<int>;

constexpr int64_t kMostChunkWords = 1024;
constexpr int64_t kMostMappedCells = 1 << 12;
constexpr int64_t kMostCells = 1 << 20;
constexpr int64_t kMostCounters = 1 << 22;  // of one sweep over rows
constexpr int64_t kMostMappedLevels = 255;  // a column with more has no bitmaps
constexpr int64_t kKnownCounts = 32;        // whose terms are looked up

// The configurations of a scope that occur, in ascending order, with how often each occurs with each level but the
// first of some other columns.
struct Extended {
    std::vector<int64_t> cell, total;
    std::vector<int64_t> table;  // (n_cells, width)
    int64_t width = 0;
};

class FamilyScores {
public:
    FamilyScores(const Codes& columns, const std::vector<int64_t>& sizes, bool dirichlet, double penalty,
                 double strength, const Weights& weights, double unit)
        : columns_(columns), wide_(columns.dtype() == nb::dtype<uint16_t>()), weights_(weights), sizes_(sizes),
          n_rows_(static_cast<int64_t>(columns.shape(1))), n_words_((n_rows_ + kWordBits - 1) / kWordBits),
          chunk_words_(std::min(kMostChunkWords, n_words_)), n_units_(units_of(weights, n_rows_)), unit_(unit),
          dirichlet_(dirichlet), penalty_(penalty), strength_(strength), entropy_(n_units_, unit) {
        require(columns.shape(0) == sizes.size(), "sizes and columns differ in number");
        if (!wide_ && columns.dtype() != nb::dtype<uint8_t>()) throw nb::type_error("codes must be uint8 or uint16");
        std::vector<uint8_t> padded(static_cast<std::size_t>(n_words_ * kWordBits), 255);
        for (std::size_t c = 0; c < sizes.size(); ++c) {
            const int64_t size = sizes[c];
            const bool mapped = !weights && size <= kMostMappedLevels;
            with_codes(static_cast<int>(c), [&](const auto* code) {
                require(std::all_of(code, code + n_rows_, [&](auto k) { return k < size; }),
                        "a code is beyond the size of its column");
                if (mapped)
                    std::transform(code, code + n_rows_, padded.begin(),
                                   [](auto k) { return static_cast<uint8_t>(k); });
            });
            first_map_.push_back(mapped ? n_maps_ : -1);
            if (!mapped) continue;
            n_maps_ += size;
            maps_.resize(static_cast<std::size_t>(n_maps_ * n_words_));
            pack(padded.data(), n_words_, size, maps_.data() + (n_maps_ - size) * n_words_, n_words_);
        }
    }

    // The score of the node given its parents and each candidate in turn; minus infinity if the table is too large.
    std::vector<double> additions(int node, const Ints& parents, const Ints& candidates) const {
        check(node, parents, candidates);
        const nb::gil_scoped_release unlocked;
        std::vector<double> scores(candidates.size(), -std::numeric_limits<double>::infinity());
        const int64_t n_above = cells_of(parents), size = sizes_[node];
        Ints scope = parents;
        scope.push_back(node);
        const bool few = n_above * size <= kMostMappedCells &&
                         std::all_of(scope.begin(), scope.end(), [&](int column) { return mapped(column); });
        Ints by_map, by_row;  // places among the candidates
        for (std::size_t k = 0; k < candidates.size(); ++k)
            if (n_above * size * sizes_[candidates[k]] <= kMostCells)
                (few && mapped(candidates[k]) ? by_map : by_row).push_back(static_cast<int>(k));
        const auto put = [&](const Ints& places, bool maps) {
            Ints chosen;
            for (const int place : places) chosen.push_back(candidates[place]);
            const Extended counts = maps ? by_maps(scope, chosen) : by_rows(scope, chosen);
            int64_t first = 0;
            for (const int place : places) {
                scores[place] = scored(counts, size, n_above, sizes_[candidates[place]], first);
                first += sizes_[candidates[place]] - 1;
            }
        };
        if (!by_map.empty()) put(by_map, true);
        for (std::size_t from = 0; from < by_row.size();) {
            Ints part;
            for (int64_t room = kMostCounters; from < by_row.size() && (part.empty() || room > 0); ++from) {
                part.push_back(by_row[from]);
                room -= n_above * size * sizes_[candidates[by_row[from]]];
            }
            put(part, false);
        }
        return scores;
    }

private:
    // How many units all rows have.
    static int64_t units_of(const Weights& weights, int64_t n_rows) {
        if (!weights) return n_rows;
        require(static_cast<int64_t>(weights->shape(0)) == n_rows, "give each row one weight");
        return std::accumulate(weights->data(), weights->data() + n_rows, int64_t{0});
    }

    void check(int node, const Ints& parents, const Ints& candidates) const {
        const auto inside = [&](int k) { return k >= 0 && k < static_cast<int>(sizes_.size()); };
        double cells = 1.0;
        require(inside(node) && std::all_of(parents.begin(), parents.end(), inside) &&
                    std::all_of(candidates.begin(), candidates.end(), inside),
                "there is no such column");
        for (int parent : parents) cells *= static_cast<double>(sizes_[parent]);
        require(cells <= 1e15, "the family is too large");
    }

    int64_t cells_of(const Ints& scope) const {
        int64_t cells = 1;
        for (int column : scope) cells *= sizes_[column];
        return cells;
    }

    bool mapped(int column) const { return first_map_[column] >= 0; }

    template <class Use>
    void with_codes(int column, Use use) const {
        const int64_t start = column * n_rows_;
        if (wide_)
            use(static_cast<const uint16_t*>(columns_.data()) + start);
        else
            use(static_cast<const uint8_t*>(columns_.data()) + start);
    }

    const uint64_t* map(int column, int64_t level) const {
        return maps_.data() + (first_map_[column] + level) * n_words_;
    }

    Extended empty(int64_t n_cells, const Ints& others) const {
        Extended found;
        for (int other : others) found.width += sizes_[other] - 1;
        found.cell.resize(static_cast<std::size_t>(n_cells));
        found.total.resize(static_cast<std::size_t>(n_cells));
        found.table.resize(static_cast<std::size_t>(n_cells * found.width));
        return found;
    }

    // Cells as intersections of bitmaps, four at a time against all levels of the others.
    Extended by_maps(const Ints& scope, const Ints& others) const {
        const int64_t n_cells = cells_of(scope);
        Extended found = empty(n_cells, others);
        for (int64_t cell = 0; cell < n_cells; ++cell) found.cell[cell] = cell;
        std::vector<const uint64_t*> right;
        for (int other : others)
            for (int64_t level = 1; level < sizes_[other]; ++level) right.push_back(map(other, level));
        Leaves leaves{found, right, block_of_products(), chunk_words_};
        std::vector<uint64_t> room(scope.size() * chunk_words_);
        for (int64_t from = 0; from < n_words_; from += chunk_words_) {
            leaves.from = from;
            leaves.n_words = std::min(chunk_words_, n_words_ - from);
            descend(scope, 0, 0, nullptr, room, leaves);
            leaves.multiply();
        }
        return found;
    }

    struct Leaves {
        Extended& found;
        const std::vector<const uint64_t*>& right;
        Block block;
        int64_t chunk_words;
        int64_t from = 0, n_words = 0;
        int n = 0;
        int64_t cell[kBlockSide] = {};
        std::vector<uint64_t> maps = std::vector<uint64_t>(kBlockSide * chunk_words);

        void add(int64_t leaf, const uint64_t* words) {
            const int64_t size = common_bits(words, words, n_words);
            if (size == 0) return;
            found.total[leaf] += size;
            cell[n] = leaf;
            std::copy(words, words + n_words, maps.begin() + n * chunk_words);
            if (++n == kBlockSide) multiply();
        }

        void multiply() {
            if (n == 0) return;
            const uint64_t *left[kBlockSide], *other[kBlockSide];
            int64_t products[kBlockSide * kBlockSide];
            const auto width = static_cast<int64_t>(right.size());
            for (int k = 0; k < kBlockSide; ++k) left[k] = maps.data() + std::min(k, n - 1) * chunk_words;
            for (int64_t j = 0; j < width; j += kBlockSide) {
                for (int k = 0; k < kBlockSide; ++k) other[k] = right[std::min(j + k, width - 1)] + from;
                block(left, other, n_words, products);
                for (int i = 0; i < n; ++i)
                    for (int k = 0; k < kBlockSide && j + k < width; ++k)
                        found.table[cell[i] * width + j + k] += products[i * kBlockSide + k];
            }
            n = 0;
        }
    };

    void descend(const Ints& scope, std::size_t depth, int64_t cell, const uint64_t* above, std::vector<uint64_t>& room,
                 Leaves& leaves) const {
        if (depth == scope.size()) return leaves.add(cell, above);
        const int column = scope[depth];
        uint64_t* words = room.data() + depth * chunk_words_;
        for (int64_t level = 0; level < sizes_[column]; ++level) {
            const uint64_t* mine = map(column, level) + leaves.from;
            uint64_t any = 0;
            for (int64_t w = 0; w < leaves.n_words; ++w) any |= words[w] = above ? above[w] & mine[w] : mine[w];
            if (any) descend(scope, depth + 1, cell * sizes_[column] + level, words, room, leaves);
        }
    }

    // Where there are too many cells for bitmaps: the cell of each row, and one counter after the other.
    Extended by_rows(const Ints& scope, const Ints& others) const {
        std::vector<uint32_t> cell(static_cast<std::size_t>(n_rows_), 0);
        for (int column : scope) {
            const auto size = static_cast<uint32_t>(sizes_[column]);
            with_codes(column, [&](const auto* code) {
                for (int64_t r = 0; r < n_rows_; ++r) cell[r] = cell[r] * size + code[r];
            });
        }
        std::vector<int64_t> rank(static_cast<std::size_t>(cells_of(scope)), 0);
        const int64_t* weight = weights_ ? weights_->data() : nullptr;
        for (int64_t r = 0; r < n_rows_; ++r) rank[cell[r]] += weight ? weight[r] : 1;
        const auto zeros = std::count(rank.begin(), rank.end(), 0);
        Extended found = empty(static_cast<int64_t>(rank.size()) - zeros, others);
        int64_t next = 0;
        for (std::size_t k = 0; k < rank.size(); ++k)
            if (rank[k] > 0) {
                found.cell[next] = static_cast<int64_t>(k);
                found.total[next] = rank[k];
                rank[k] = next++;
            }
        for (auto& each : cell) each = static_cast<uint32_t>(rank[each]);
        int64_t* table = found.table.data();
        for (int other : others) {
            with_codes(other, [&](const auto* code) {  // the first level is not counted
                for (int64_t r = 0; r < n_rows_; ++r)
                    if (code[r] > 0) table[cell[r] * found.width + (code[r] - 1)] += weight ? weight[r] : 1;
            });
            table += sizes_[other] - 1;
        }
        return found;
    }

    // Cells are (parents, node), the node's states adjacent; the candidate's levels but the first are columns.
    double scored(const Extended& counts, int64_t size, int64_t n_above, int64_t other_size, int64_t first) const {
        const double n_configurations = static_cast<double>(n_above) * static_cast<double>(other_size);
        if (!dirichlet_)
            return summed(counts, size, other_size, first, entropy_, entropy_, -1.0) -
                   penalty_ * n_configurations * static_cast<double>(size - 1);
        const double n_cells = n_configurations * static_cast<double>(size);
        const double pseudo_count = strength_ < 0.0 ? 1.0 : strength_ / n_cells;  // K2 adds a pseudo-row to each cell
        const RisingLog cells(pseudo_count, n_units_, kKnownCounts, unit_);
        const RisingLog totals(pseudo_count * static_cast<double>(size), n_units_, kKnownCounts, unit_);
        return summed(counts, size, other_size, first, cells, totals, -1.0);
    }

    // The sum of cell(n) over cells, and of sign * total(n) over configurations of all parents.
    template <class Term>
    static double summed(const Extended& counts, int64_t size, int64_t other_size, int64_t first, const Term& cell,
                         const Term& total, double sign) {
        double sum = 0.0;
        std::vector<int64_t> of_configuration(static_cast<std::size_t>(other_size), 0);
        const std::size_t n_cells = counts.cell.size();
        for (std::size_t k = 0; k < n_cells; ++k) {
            int64_t left = counts.total[k];
            if (left > 0) {
                const int64_t* row = counts.table.data() + static_cast<int64_t>(k) * counts.width + first;
                for (int64_t level = 1; level < other_size; ++level) {
                    const int64_t n = row[level - 1];
                    left -= n;
                    of_configuration[level] += n;
                    sum += cell(n);
                }
                of_configuration[0] += left;
                sum += cell(left);
            }
            if (k + 1 < n_cells && counts.cell[k] / size == counts.cell[k + 1] / size) continue;
            for (int64_t& each : of_configuration) sum += sign * total(std::exchange(each, 0));
        }
        return sum;
    }

    Codes columns_;
    bool wide_;        // codes of 16 bits
    Weights weights_;  // above 0
    std::vector<int64_t> sizes_;
    int64_t n_rows_, n_words_, chunk_words_, n_units_;
    double unit_;
    bool dirichlet_;
    double penalty_, strength_;
    EntropyTerm entropy_;
    int64_t n_maps_ = 0;
    std::vector<int64_t> first_map_;  // -1 for a column without bitmaps
    std::vector<uint64_t> maps_;      // (n_maps, n_words)
};

}  // namespace

void bind_family_scores(nb::module_& m) {
    nb::class_<FamilyScores>(m, "FamilyScores")
        .def(nb::init<const Codes&, const std::vector<int64_t>&, bool, double, double, const Weights&, double>(),
             "columns"_a.noconvert(), "sizes"_a, "dirichlet"_a, "penalty"_a, "strength"_a,
             "weights"_a.noconvert() = nb::none(), "unit"_a = 1.0)
        .def("additions", &FamilyScores::additions, "node"_a, "parents"_a, "candidates"_a);
}

}  // namespace bayeswise::networks
