// The graph of a hill climb, and the change of it that gains most: an edge more, an edge less, or one reversed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Flags = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (n, n) [parent, child]
using Change = std::tuple<int, int, bool>;                                          // parent, child, whether reversed

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

class EdgeChanges {
public:
    EdgeChanges(const Flags& allowed, const Flags& fixed)
        : n_(static_cast<int>(allowed.shape(0))), allowed_(allowed.data(), allowed.data() + allowed.size()),
          fixed_(fixed.data(), fixed.data() + fixed.size()), edge_(allowed.size(), 0), ancestor_(allowed.size(), 0),
          gain_(allowed.size(), kMinusInfinity), toggle_(allowed.size()), turn_(allowed.size()) {
        require(allowed.shape(1) == allowed.shape(0) && fixed.shape(0) == allowed.shape(0) &&
                    fixed.shape(1) == allowed.shape(0),
                "give one row and one column for each node");
        for (int node = 0; node < n_; ++node) ancestor_[at(node, node)] = 1;
    }

    void put(int parent, int child) {
        check(parent, child);
        require(!ancestor_[at(parent, child)], "the edge closes a cycle");
        edge_[at(parent, child)] = 1;
        for (int node = 0; node < n_; ++node)
            if (ancestor_[at(node, child)]) inherit(node, parent);
    }

    void drop(int parent, int child) {
        check(parent, child);
        require(edge_[at(parent, child)], "there is no such edge");
        edge_[at(parent, child)] = 0;
        std::vector<std::pair<int64_t, int>> below;  // the child and what descends from it, ancestors first
        for (int node = 0; node < n_; ++node)
            if (ancestor_[at(node, child)])
                below.emplace_back(std::count(ancestor_.begin() + at(node, 0), ancestor_.begin() + at(node, n_), 1),
                                   node);
        std::sort(below.begin(), below.end());
        for (const auto& [_, node] : below) {
            std::fill(ancestor_.begin() + at(node, 0), ancestor_.begin() + at(node, n_), 0);
            ancestor_[at(node, node)] = 1;
            for (int above = 0; above < n_; ++above)
                if (edge_[at(above, node)]) inherit(node, above);
        }
    }

    // Whether a path leads from one node to the other, or both are the same.
    bool leads(int from, int to) const {
        check(from, to);
        return ancestor_[at(to, from)];
    }

    // What it adds to the score of a node to put or drop the edge from each of some nodes; no other edge is possible.
    void set_gains(int node, const std::vector<int>& parents, const std::vector<double>& gains) {
        require(parents.size() == gains.size(), "give each parent one gain");
        check(node, node);
        for (int parent = 0; parent < n_; ++parent) gain_[at(parent, node)] = kMinusInfinity;
        for (std::size_t k = 0; k < parents.size(); ++k) {
            check(parents[k], node);
            gain_[at(parents[k], node)] = gains[k];
        }
    }

    // The change that gains most, if it gains more than rounding or may lose; edges between tabu pairs stay. Gains that
    // differ by rounding are equal: edges that are put or dropped go first, and then the order of nodes decides.
    std::optional<Change> best(const std::vector<std::pair<int, int>>& tabu, double rounding, bool losing) {
        for (int parent = 0; parent < n_; ++parent)
            for (int child = 0; child < n_; ++child) {
                const std::size_t here = at(parent, child), back = at(child, parent);
                const bool stays = (edge_[here] && fixed_[here]) || ancestor_[here];
                const bool turns = edge_[here] && !fixed_[here] && allowed_[back];
                toggle_[here] = stays ? kMinusInfinity : gain_[here];
                turn_[here] = turns ? gain_[here] + gain_[back] : kMinusInfinity;
            }
        for (const auto& [one, other] : tabu) {
            check(one, other);
            for (const std::size_t place : {at(one, other), at(other, one)})
                toggle_[place] = turn_[place] = kMinusInfinity;
        }
        const double best_toggle = largest(toggle_);
        while (true) {
            const double most = std::max(best_toggle, largest(turn_));
            if (most == kMinusInfinity || (most <= rounding && !losing)) return std::nullopt;
            const double near = most - rounding;
            const bool turned = best_toggle < near;
            const std::vector<double>& gains = turned ? turn_ : toggle_;
            const auto place = static_cast<int>(
                std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= near; }) - gains.begin());
            const int parent = place / n_, child = place % n_;
            if (!turned || !leads_around(parent, child)) return Change{parent, child, turned};
            turn_[place] = kMinusInfinity;
        }
    }

private:
    std::size_t at(int row, int column) const { return static_cast<std::size_t>(row) * n_ + column; }

    void check(int one, int other) const {
        require(one >= 0 && one < n_ && other >= 0 && other < n_, "there is no such node");
    }

    static double largest(const std::vector<double>& gains) {
        return gains.empty() ? kMinusInfinity : *std::max_element(gains.begin(), gains.end());
    }

    void inherit(int node, int parent) {
        const uint8_t* from = ancestor_.data() + at(parent, 0);
        uint8_t* to = ancestor_.data() + at(node, 0);
        for (int k = 0; k < n_; ++k) to[k] |= from[k];
    }

    // Whether a path other than the edge itself leads from parent to child.
    bool leads_around(int parent, int child) const {
        for (int other = 0; other < n_; ++other)
            if (other != parent && edge_[at(other, child)] && ancestor_[at(other, parent)]) return true;
        return false;
    }

    int n_;
    std::vector<uint8_t> allowed_, fixed_, edge_;  // (n, n) [parent, child]
    std::vector<uint8_t> ancestor_;                // (n, n) [node, ancestor or itself]
    std::vector<double> gain_;                     // (n, n) [parent, child] of putting or dropping the edge
    std::vector<double> toggle_, turn_;            // (n, n) [parent, child] gains of changes that are possible
};

}  // namespace

void bind_edge_changes(nb::module_& m) {
    nb::class_<EdgeChanges>(m, "EdgeChanges")
        .def(nb::init<const Flags&, const Flags&>(), "allowed"_a.noconvert(), "fixed"_a.noconvert())
        .def("put", &EdgeChanges::put, "parent"_a, "child"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("drop", &EdgeChanges::drop, "parent"_a, "child"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("leads", &EdgeChanges::leads, "from_"_a, "to"_a)
        .def("set_gains", &EdgeChanges::set_gains, "node"_a, "parents"_a, "gains"_a)
        .def("best", &EdgeChanges::best, "tabu"_a, "rounding"_a, "losing"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace bayeswise::networks
