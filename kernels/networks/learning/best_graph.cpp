// The best graph of all, by dynamic programming over sets of columns (Silander and Myllymaki 2006).
//
// best(C) of a node is the score of its best parents within C: that of C itself, or of C without one column. The best
// graph over W has a last node v, with its best parents within W without v, and the best graph over those.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/bits.hpp"
#include "common/interrupts.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Sums = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Best = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;    // (n, 2^(n - 1))
using Totals = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // (2^n,)
using Last = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A set without the place of a node, and back.
inline uint32_t squeezed(uint32_t set, int node) {
    const uint32_t low = (uint32_t{1} << node) - 1;
    return (set & low) | ((set >> 1) & ~low);
}
inline uint32_t spread(uint32_t set, int node) {
    const uint32_t low = (uint32_t{1} << node) - 1;
    return (set & low) | ((set & ~low) << 1);
}

struct Family {
    const double *cells, *totals;  // sums over the cells of a set, as cells and as totals of this node's rows
    std::vector<int64_t> sizes;
    int node, most;
    uint32_t allowed, required;
    double penalty, most_cells;

    double score(uint32_t parents) const {
        if ((parents & ~allowed) || (required & ~parents) || bits::count(parents) > most) return kMinusInfinity;
        double n_above = 1.0;
        for (uint32_t rest = parents; rest; rest &= rest - 1) n_above *= static_cast<double>(sizes[bits::lowest(rest)]);
        const auto size = static_cast<double>(sizes[node]);
        if (n_above * size > most_cells) return kMinusInfinity;
        return cells[parents | uint32_t{1} << node] - totals[parents] - penalty * n_above * (size - 1.0);
    }
};

Family family(const Sums& cells, const Sums& totals, const std::vector<int64_t>& sizes, int node, uint32_t allowed,
              uint32_t required, int most, double penalty, double most_cells) {
    const std::size_t n = sizes.size();
    const uint32_t named = allowed | required;
    require(n >= 1 && n <= 30 && node >= 0 && node < static_cast<int>(n) && cells.shape(0) == std::size_t{1} << n &&
                totals.shape(0) == cells.shape(0) && named >> n == 0 && (named >> node & 1) == 0,
            "sums, sizes and sets do not fit");
    return {cells.data(), totals.data(), sizes, node, most, allowed, required, penalty, most_cells};
}

// The score of the best parents of a node within each set of the others.
void best_parents(const Sums& cells, const Sums& totals, const std::vector<int64_t>& sizes, int node, uint32_t allowed,
                  uint32_t required, int most, double penalty, double most_cells, const Best& best) {
    const Family scores = family(cells, totals, sizes, node, allowed, required, most, penalty, most_cells);
    require(best.shape(0) == sizes.size() && best.shape(1) == cells.shape(0) / 2,
            "the table of best parents does not fit");
    const nb::gil_scoped_release unlocked;
    double* mine = best.data() + static_cast<int64_t>(node) * static_cast<int64_t>(best.shape(1));
    const auto n_sets = static_cast<uint32_t>(best.shape(1));
    for (uint32_t set = 0; set < n_sets; ++set) {
        if (set % 4096 == 0) check_interrupts();
        double top = scores.score(spread(set, node));
        for (uint32_t rest = set; rest; rest &= rest - 1) top = std::max(top, mine[set & ~(rest & -rest)]);
        mine[set] = top;
    }
}

// The parents of a node that are better than all of their subsets, best first: sets and scores.
std::pair<std::vector<uint32_t>, std::vector<double>> parent_list(const Sums& cells, const Sums& totals,
                                                                  const std::vector<int64_t>& sizes, int node,
                                                                  uint32_t allowed, uint32_t required, int most,
                                                                  double penalty, double most_cells) {
    const Family scores = family(cells, totals, sizes, node, allowed, required, most, penalty, most_cells);
    const nb::gil_scoped_release unlocked;
    std::vector<std::pair<uint32_t, double>> layer, found;  // all sets of one size, with the best of their subsets
    const double alone = scores.score(0);
    layer.emplace_back(0, alone);
    if (alone > kMinusInfinity) found.emplace_back(0, alone);
    for (int size = 1; size <= most; ++size) {
        check_interrupts();
        std::vector<std::pair<uint32_t, double>> next;
        for (const auto& [set, below] : layer)
            for (uint32_t rest = allowed & ~set; rest; rest &= rest - 1) next.emplace_back(set | (rest & -rest), below);
        std::sort(next.begin(), next.end());
        std::vector<std::pair<uint32_t, double>> merged;
        for (const auto& [set, below] : next)  // equal sets lie side by side, the best subset last
            if (!merged.empty() && merged.back().first == set)
                merged.back().second = below;
            else
                merged.emplace_back(set, below);
        for (auto& [set, below] : merged) {
            const double score = scores.score(set);
            if (score > below) found.emplace_back(set, below = score);
        }
        layer = std::move(merged);
    }
    std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
        return one.second != other.second ? one.second > other.second : one.first < other.first;
    });
    std::pair<std::vector<uint32_t>, std::vector<double>> result;
    for (const auto& [set, score] : found) {
        result.first.push_back(set);
        result.second.push_back(score);
    }
    return result;
}

// totals[W] and last[W] for the sets W in [from, to), those below `from` being known. Graphs that say the same differ
// by rounding alone: of those the last node is the one that comes last among the columns, so that edges point that way.
template <class BestWithin>
void fill(double* totals, uint8_t* last, uint32_t from, uint32_t to, BestWithin best_within) {
    constexpr double rounding = 1e-12;
    double found[32];
    for (uint32_t set = from; set < to; ++set) {
        if (set % 4096 == 0) check_interrupts();
        double top = kMinusInfinity;
        for (uint32_t rest = set; rest; rest &= rest - 1) {
            const int node = bits::lowest(rest);
            const uint32_t before = set & ~(uint32_t{1} << node);
            found[node] = kMinusInfinity;
            if (totals[before] == kMinusInfinity) continue;
            found[node] = totals[before] + best_within(node, before);
            top = std::max(top, found[node]);
        }
        int chosen = 0;
        const double near = top - rounding * std::fabs(top);
        for (uint32_t rest = set; rest; rest &= rest - 1)
            if (found[bits::lowest(rest)] >= near) chosen = bits::lowest(rest);
        totals[set] = set ? top : 0.0;
        last[set] = static_cast<uint8_t>(chosen);
    }
}

void check(const Totals& totals, const Last& last, uint64_t to) {
    require(last.shape(0) == totals.shape(0) && to <= totals.shape(0), "sets do not fit");
}

void best_graphs(const Best& best, const Totals& totals, const Last& last, uint32_t from, uint32_t to) {
    check(totals, last, to);
    require(2 * best.shape(1) == totals.shape(0), "sets do not fit");
    const nb::gil_scoped_release unlocked;
    const double* table = best.data();
    const auto width = static_cast<int64_t>(best.shape(1));
    fill(totals.data(), last.data(), from, to,
         [=](int node, uint32_t set) { return table[node * width + squeezed(set, node)]; });
}

// The same with lists of parents, best first: that of a node begins at starts[node].
void best_graphs_of_lists(const Masks& parents, const Sums& scores, const std::vector<int64_t>& starts,
                          const Totals& totals, const Last& last, uint32_t from, uint32_t to) {
    check(totals, last, to);
    require(parents.shape(0) == scores.shape(0) && !starts.empty() && totals.shape(0) >> (starts.size() - 1) == 1 &&
                starts.back() == static_cast<int64_t>(parents.shape(0)) && std::is_sorted(starts.begin(), starts.end()),
            "lists do not fit");
    const nb::gil_scoped_release unlocked;
    fill(totals.data(), last.data(), from, to, [&](int node, uint32_t set) {
        for (int64_t k = starts[node]; k < starts[node + 1]; ++k)
            if (!(parents.data()[k] & ~set)) return scores.data()[k];
        return kMinusInfinity;
    });
}

}  // namespace

void bind_exact_structure(nb::module_& m) {
    m.def("best_parents", &best_parents, "cells"_a.noconvert(), "totals"_a.noconvert(), "sizes"_a, "node"_a,
          "allowed"_a, "required"_a, "most"_a, "penalty"_a, "most_cells"_a, "best"_a.noconvert());
    m.def("parent_list", &parent_list, "cells"_a.noconvert(), "totals"_a.noconvert(), "sizes"_a, "node"_a, "allowed"_a,
          "required"_a, "most"_a, "penalty"_a, "most_cells"_a);
    m.def("best_graphs", &best_graphs, "best"_a.noconvert(), "totals"_a.noconvert(), "last"_a.noconvert(), "begin"_a,
          "end"_a);
    m.def("best_graphs_of_lists", &best_graphs_of_lists, "parents"_a.noconvert(), "scores"_a.noconvert(), "starts"_a,
          "totals"_a.noconvert(), "last"_a.noconvert(), "begin"_a, "end"_a);
}

}  // namespace bayeswise::networks
