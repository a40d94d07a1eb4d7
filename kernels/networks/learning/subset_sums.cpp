// Sums over the cells of every set of columns: rows that agree on a set are split by one more column, again and again.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/interrupts.hpp"
#include "common/require.hpp"
#include "networks/learning/count_terms.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

template <class Code>
using Codes = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (n_columns, n_rows)
using Weights = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (1 + n_widths, 2^n_columns)

constexpr int64_t kKnownCounts = 256;

// Rows in cells; rows of weight 1 that have a cell of their own can never be split, and are only counted.
struct Partition {
    std::vector<int32_t> rows, ends;
    int64_t ones = 0;
};

template <class Code>
class SubsetSums {
public:
    SubsetSums(const Codes<Code>& columns, const std::vector<int64_t>& sizes, const Weights& weights,
               const std::vector<double>& pseudo_counts, double strength, double unit, const Sums& sums)
        : columns_(columns), sizes_(sizes), weights_(weights.data()), n_rows_(static_cast<int64_t>(columns.shape(1))),
          n_columns_(static_cast<int>(sizes.size())), strength_(strength), unit_(unit), sums_(sums.data()),
          n_sets_(static_cast<int64_t>(sums.shape(1))), levels_(sizes.size() + 1) {
        for (const int64_t size : sizes) most_levels_ = std::max(most_levels_, size);
        at_.resize(static_cast<std::size_t>(most_levels_ + 1));
        counts_.assign(static_cast<std::size_t>(most_levels_ + 1), 0);
        for (int64_t r = 0; r < n_rows_; ++r) total_ += weights_[r];
        for (const double each : pseudo_counts) terms_.emplace_back(each, total_, kKnownCounts, unit_);
        if (pseudo_counts.empty() && strength_ <= 0.0) entropy_.emplace_back(total_, unit_);
    }

    // All sets that have exactly the columns `chosen` of the first `n_first`, at most `most` columns and `most_cells`.
    void run(uint32_t chosen, int n_first, int most, double most_cells) {
        most_ = most;
        most_cells_ = most_cells;
        Partition& whole = levels_[0];
        whole.rows.resize(static_cast<std::size_t>(n_rows_));
        std::iota(whole.rows.begin(), whole.rows.end(), 0);
        whole.ends.assign(n_rows_ > 0 ? 1 : 0, static_cast<int32_t>(n_rows_));
        int depth = 0;
        double cells = 1.0;
        for (int column = 0; column < n_first; ++column)
            if (chosen >> column & 1) {
                split(levels_[depth], levels_[depth + 1], column);
                cells *= static_cast<double>(sizes_[column]);
                ++depth;
            }
        if (depth > most_ || cells > most_cells_) return;
        record(chosen, cells, [&](const auto& term) { return summed(levels_[depth], term); });
        descend(chosen, depth, n_first, cells);
    }

private:
    void descend(uint32_t set, int depth, int first, double cells) {
        if (depth == most_) return;
        check_interrupts();
        for (int column = first; column < n_columns_; ++column) {
            const uint32_t larger = set | uint32_t{1} << column;
            const double more = cells * static_cast<double>(sizes_[column]);
            if (more > most_cells_) continue;
            if (column + 1 == n_columns_ || depth + 1 == most_) {  // nothing is split further
                record(larger, more, [&](const auto& term) { return summed_split(levels_[depth], column, term); });
                continue;
            }
            split(levels_[depth], levels_[depth + 1], column);
            record(larger, more, [&](const auto& term) { return summed(levels_[depth + 1], term); });
            descend(larger, depth + 1, column + 1, more);
        }
    }

    void split(const Partition& from, Partition& to, int column) {
        const Code* code = columns_.data() + static_cast<int64_t>(column) * n_rows_;
        const int64_t n_levels = sizes_[column];
        int32_t* at = at_.data();
        to.rows.resize(from.rows.size());
        to.ends.clear();
        to.ones = from.ones;
        int32_t begin = 0, out = 0;
        for (const int32_t end : from.ends) {
            std::fill(at, at + n_levels + 1, 0);
            for (int32_t k = begin; k < end; ++k) ++at[code[from.rows[k]] + 1];
            int32_t next = out;
            for (int64_t level = 0; level < n_levels; ++level) {
                const int32_t size = at[level + 1];
                at[level] = next;
                next += size;
            }
            for (int32_t k = begin; k < end; ++k) to.rows[at[code[from.rows[k]]]++] = from.rows[k];
            // at[level] is now the end of each level; single rows of weight 1 are taken out
            int32_t first = out;
            for (int64_t level = 0; level < n_levels; ++level) {
                const int32_t last = at[level], size = last - first;
                if (size == 1 && weights_[to.rows[first]] == 1) {
                    ++to.ones;
                } else if (size > 0) {
                    if (out != first) std::copy(to.rows.begin() + first, to.rows.begin() + last, to.rows.begin() + out);
                    out += size;
                    to.ends.push_back(out);
                }
                first = last;
            }
            begin = end;
        }
        to.rows.resize(static_cast<std::size_t>(out));
    }

    template <class Term>
    double summed(const Partition& partition, const Term& term) const {
        double sum = partition.ones > 0 ? static_cast<double>(partition.ones) * term(1) : 0.0;
        int32_t begin = 0;
        for (const int32_t end : partition.ends) {
            int64_t count = 0;
            for (; begin < end; ++begin) count += weights_[partition.rows[begin]];
            sum += term(count);
        }
        return sum;
    }

    // The same for a partition that is split by one more column, which is not kept.
    template <class Term>
    double summed_split(const Partition& partition, int column, const Term& term) {
        const Code* code = columns_.data() + static_cast<int64_t>(column) * n_rows_;
        const int64_t n_levels = sizes_[column];
        double sum = partition.ones > 0 ? static_cast<double>(partition.ones) * term(1) : 0.0;
        int64_t* counts = counts_.data();  // all zero, before and after
        int32_t begin = 0;
        for (const int32_t end : partition.ends) {
            for (; begin < end; ++begin) counts[code[partition.rows[begin]]] += weights_[partition.rows[begin]];
            for (int64_t level = 0; level < n_levels; ++level) sum += term(std::exchange(counts[level], 0));
        }
        return sum;
    }

    template <class SumOf>
    void record(uint32_t set, double cells, SumOf sum_of) {
        if (!entropy_.empty()) {
            sums_[set] = sum_of(entropy_[0]);
        } else if (!terms_.empty()) {
            for (std::size_t k = 0; k < terms_.size(); ++k)
                sums_[static_cast<int64_t>(k) * n_sets_ + set] = sum_of(terms_[k]);
        } else {
            auto found = by_cells_.find(cells);
            if (found == by_cells_.end())
                found = by_cells_.emplace(cells, RisingLog(strength_ / cells, total_, kKnownCounts, unit_)).first;
            sums_[set] = sum_of(found->second);
        }
    }

    Codes<Code> columns_;
    std::vector<int64_t> sizes_;
    const int64_t* weights_;
    int64_t n_rows_, total_ = 0, most_levels_ = 0;
    int n_columns_, most_ = 0;
    double strength_, unit_, most_cells_ = 0.0;
    double* sums_;
    int64_t n_sets_;
    std::vector<Partition> levels_;
    std::vector<int32_t> at_;
    std::vector<int64_t> counts_;
    std::vector<EntropyTerm> entropy_;
    std::vector<RisingLog> terms_;
    std::map<double, RisingLog> by_cells_;
};

template <class Code>
void subset_sums(const Codes<Code>& columns, const std::vector<int64_t>& sizes, const Weights& weights,
                 const std::vector<double>& pseudo_counts, double strength, uint32_t chosen, int n_first, int most,
                 double most_cells, const Sums& sums, double unit) {
    const std::size_t n = sizes.size(), n_sums = pseudo_counts.empty() ? 1 : pseudo_counts.size();
    require(n <= 30 && columns.shape(0) == n && weights.shape(0) == columns.shape(1) && sums.shape(0) == n_sums &&
                sums.shape(1) == std::size_t{1} << n && n_first >= 0 && n_first <= static_cast<int>(n) &&
                columns.shape(1) < (std::size_t{1} << 31),
            "columns, weights and sums do not fit");
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = 0; r < columns.shape(1); ++r)
            require(columns(c, r) < sizes[c], "a code is beyond the size of its column");
    const nb::gil_scoped_release unlocked;
    SubsetSums<Code>(columns, sizes, weights, pseudo_counts, strength, unit, sums)
        .run(chosen, n_first, most, most_cells);
}

}  // namespace

template <class Code>
void bind_sums(nb::module_& m) {
    m.def("subset_sums", &subset_sums<Code>, "columns"_a.noconvert(), "sizes"_a, "weights"_a.noconvert(),
          "pseudo_counts"_a, "strength"_a, "chosen"_a, "n_first"_a, "most"_a, "most_cells"_a, "sums"_a.noconvert(),
          "unit"_a = 1.0);
}

void bind_subset_sums(nb::module_& m) {
    bind_sums<uint8_t>(m);
    bind_sums<uint16_t>(m);
}

}  // namespace bayeswise::networks
