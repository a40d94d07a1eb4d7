// The graph of a hill climb, and the change of it that gains most: an edge more, an edge less, or one reversed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
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
constexpr std::size_t kLanes = 8;

class EdgeChanges {
public:
    EdgeChanges(const Flags& allowed, const Flags& fixed)
        : n_(static_cast<int>(allowed.shape(0))), allowed_(allowed.data(), allowed.data() + allowed.size()),
          fixed_(fixed.data(), fixed.data() + fixed.size()), above_(allowed.shape(0)), ancestor_(allowed.size(), 0),
          gain_(allowed.size(), kMinusInfinity), toggle_(allowed.size()) {
        require(allowed.shape(1) == allowed.shape(0) && fixed.shape(0) == allowed.shape(0) &&
                    fixed.shape(1) == allowed.shape(0),
                "give one row and one column for each node");
        for (int node = 0; node < n_; ++node) ancestor_[at(node, node)] = 1;
    }

    void put(int parent, int child) {
        check(parent, child);
        require(!ancestor_[at(parent, child)], "the edge closes a cycle");
        const std::size_t edge = at(parent, child);
        edges_.insert(std::lower_bound(edges_.begin(), edges_.end(), edge), edge);
        above_[child].push_back(parent);
        for (int node = 0; node < n_; ++node)
            if (ancestor_[at(node, child)]) inherit(node, parent);
    }

    void drop(int parent, int child) {
        check(parent, child);
        const auto edge = std::find(edges_.begin(), edges_.end(), at(parent, child));
        require(edge != edges_.end(), "there is no such edge");
        edges_.erase(edge);
        above_[child].erase(std::find(above_[child].begin(), above_[child].end(), parent));
        std::vector<std::pair<int64_t, int>> below;  // the child and what descends from it, ancestors first
        for (int node = 0; node < n_; ++node)
            if (ancestor_[at(node, child)])
                below.emplace_back(std::count(ancestor_.begin() + at(node, 0), ancestor_.begin() + at(node, n_), 1),
                                   node);
        std::sort(below.begin(), below.end());
        for (const auto& [_, node] : below) {
            std::fill(ancestor_.begin() + at(node, 0), ancestor_.begin() + at(node, n_), 0);
            ancestor_[at(node, node)] = 1;
            for (const int above : above_[node]) inherit(node, above);
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
        for (std::size_t place = 0; place < gain_.size(); ++place)
            toggle_[place] = ancestor_[place] ? kMinusInfinity : gain_[place];
        turn_.clear();
        for (const std::size_t place : edges_) {
            const std::size_t back = at(static_cast<int>(place % n_), static_cast<int>(place / n_));
            if (fixed_[place]) toggle_[place] = kMinusInfinity;
            turn_.push_back(!fixed_[place] && allowed_[back] ? gain_[place] + gain_[back] : kMinusInfinity);
        }
        for (const auto& [one, other] : tabu) {
            check(one, other);
            for (const std::size_t place : {at(one, other), at(other, one)}) {
                toggle_[place] = kMinusInfinity;
                const auto edge = std::find(edges_.begin(), edges_.end(), place);
                if (edge != edges_.end()) turn_[edge - edges_.begin()] = kMinusInfinity;
            }
        }
        const double best_toggle = largest(toggle_);
        while (true) {
            const double most = std::max(best_toggle, largest(turn_));
            if (most == kMinusInfinity || (most <= rounding && !losing)) return std::nullopt;
            const double near = most - rounding;
            const bool turned = best_toggle < near;
            const std::size_t first = first_from(turned ? turn_ : toggle_, near);
            const std::size_t place = turned ? edges_[first] : first;
            const int parent = static_cast<int>(place / n_), child = static_cast<int>(place % n_);
            if (!turned || !leads_around(parent, child)) return Change{parent, child, turned};
            turn_[first] = kMinusInfinity;
        }
    }

private:
    std::size_t at(int row, int column) const { return static_cast<std::size_t>(row) * n_ + column; }

    void check(int one, int other) const {
        require(one >= 0 && one < n_ && other >= 0 && other < n_, "there is no such node");
    }

    static double largest(const std::vector<double>& gains) {
        std::array<double, kLanes> most;  // of every kLanes-th gain: the compiler takes them together
        most.fill(kMinusInfinity);
        std::size_t k = 0;
        for (; k + kLanes <= gains.size(); k += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) most[lane] = std::max(most[lane], gains[k + lane]);
        for (; k < gains.size(); ++k) most[0] = std::max(most[0], gains[k]);
        return *std::max_element(most.begin(), most.end());
    }

    static std::size_t first_from(const std::vector<double>& gains, double near) {
        return std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= near; }) - gains.begin();
    }

    void inherit(int node, int parent) {
        const uint8_t* from = ancestor_.data() + at(parent, 0);
        uint8_t* to = ancestor_.data() + at(node, 0);
        for (int k = 0; k < n_; ++k) to[k] |= from[k];
    }

    // Whether a path other than the edge itself leads from parent to child.
    bool leads_around(int parent, int child) const {
        return std::any_of(above_[child].begin(), above_[child].end(),
                           [&](int other) { return other != parent && ancestor_[at(other, parent)]; });
    }

    int n_;
    std::vector<uint8_t> allowed_, fixed_;  // (n, n) [parent, child]
    std::vector<std::size_t> edges_;        // places [parent, child] of those there are, in order
    std::vector<std::vector<int>> above_;   // the parents of each node
    std::vector<uint8_t> ancestor_;         // (n, n) [node, ancestor or itself]
    std::vector<double> gain_;              // (n, n) [parent, child] of putting or dropping the edge
    std::vector<double> toggle_;            // the same where it is possible
    std::vector<double> turn_;              // (n_edges,) of reversing each edge
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
