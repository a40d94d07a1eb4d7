// Junction trees as Python sees them: one question, all marginals, the best states, whole batches of rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "common/interrupts.hpp"
#include "common/require.hpp"
#include "networks/batches.hpp"
#include "networks/factors.hpp"
#include "networks/propagation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Codes = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Owned = nb::ndarray<nb::numpy, double>;

Owned owned(std::vector<double>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return Owned(kept->data(), shape.size(), shape.begin(), owner);
}

// Sizes, parents and tables, checked and converted once for all trees of a network.
struct NetworkTables {
    Network network;
    std::vector<Table> kept;

    NetworkTables(const std::vector<int64_t>& sizes, const std::vector<std::vector<int>>& parents,
                  const std::vector<Table>& tables)
        : kept(tables) {
        const size_t n = sizes.size();
        require(parents.size() == n && tables.size() == n, "one entry for each node is needed");
        network.sizes = sizes;
        network.parents = parents;
        for (size_t node = 0; node < n; ++node) {
            int64_t rows = 1;
            for (int parent : parents[node]) rows *= sizes.at(size_t(parent));
            require(int64_t(tables[node].shape(0)) == rows && int64_t(tables[node].shape(1)) == sizes[node],
                    "a table does not have the shape of its node and parents");
            network.tables.push_back(tables[node].data());
        }
    }

    // An order in which to eliminate all nodes, how many cells its cliques have, and the words that were looked at to
    // find it; no order if that takes too many.
    std::tuple<std::vector<int>, double, double> order(double most_work) const {
        const nb::gil_scoped_release unlocked;
        Elimination found = planned_order(network, most_work);
        return {found.complete ? found.order : std::vector<int>(), found.n_cells, found.work};
    }
};

class JunctionTree {
public:
    // Nodes are eliminated as they stand in the `order` of all nodes, if one is given. The tables must outlive the tree.
    JunctionTree(const NetworkTables& of, const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed,
                 const std::vector<int>& last, bool last_is_root, bool maximise_all, const std::vector<int>& order)
        : observed_(observed) {
        tree_.network = of.network;
        const size_t n = of.network.sizes.size();
        require(relevant.size() == n && observed.size() == n, "one entry for each node is needed");
        std::vector<uint8_t> named(n, 0);
        for (int node : order) {
            require(node >= 0 && size_t(node) < n && !named[size_t(node)], "an order has each node once");
            named[size_t(node)] = 1;
        }
        require(order.empty() || order.size() == n, "an order has every node");
        const nb::gil_scoped_release unlocked;
        tree_.compile(relevant, observed, last, last_is_root, maximise_all, order);
    }

    double n_cells() const { return tree_.n_cells; }
    double n_bytes() const { return tree_.n_bytes(); }
    bool planned() const { return tree_.planned; }
    int64_t n_cliques() const { return int64_t(tree_.cliques.size()); }

    // The normalised joint of the targets (empty if the evidence is impossible) and the log evidence.
    std::pair<Owned, double> posterior(const std::vector<int32_t>& states,
                                       const std::vector<std::pair<int, Vector>>& soft) const {
        const Findings seen = findings(states, soft);
        std::vector<double> out;
        double log_evidence = kMinusInfinity;
        {
            nb::gil_scoped_release unlocked;
            widening(tree_, [&](auto& run) {
                const bool possible = run.collect(seen);
                if (run.lost) return false;
                log_evidence = run.log_evidence;
                if (possible && tree_.root >= 0) {
                    out.resize(run.potential[tree_.root].size());
                    run.normalised(run.potential[tree_.root], out.data());
                }
                return true;
            });
        }
        const size_t size = out.size();
        return {owned(std::move(out), {size}), log_evidence};
    }

    // The marginals of some nodes, one after the other (empty if impossible), and the log evidence.
    std::pair<Owned, double> marginals(const std::vector<int>& nodes, const std::vector<int32_t>& states,
                                       const std::vector<std::pair<int, Vector>>& soft) const {
        const Findings seen = findings(states, soft);
        size_t size = 0;
        for (int node : nodes) size += size_t(tree_.network.sizes.at(node));
        std::vector<double> out(size);
        double log_evidence = kMinusInfinity;
        {
            nb::gil_scoped_release unlocked;
            widening(tree_, [&](auto& run) {
                const bool possible = run.collect(seen);
                if (run.lost) return false;
                log_evidence = run.log_evidence;
                if (!possible) return out.clear(), true;
                run.distribute();
                if (run.lost) return false;
                double* place = out.data();
                for (int node : nodes) {
                    run.marginal(node, place);
                    place += tree_.network.sizes[node];
                }
                return true;
            });
        }
        const size_t found = out.size();
        return {owned(std::move(out), {found}), log_evidence};
    }

    // The best state of each node that was maximised (-1 for the others), and the log of its probability.
    std::pair<std::vector<int32_t>, double> best(const std::vector<int32_t>& states,
                                                 const std::vector<std::pair<int, Vector>>& soft) const {
        const Findings seen = findings(states, soft);
        std::vector<int32_t> found(tree_.network.sizes.size(), -1);
        double log_top = kMinusInfinity;
        nb::gil_scoped_release unlocked;
        widening(tree_, [&](auto& run) {
            const bool possible = run.collect(seen);
            if (run.lost) return false;
            log_top = run.log_evidence;
            if (possible) run.trace_back(found);
            return true;
        });
        return {found, log_top};
    }

    // The posterior of the targets for each row, (n_rows, n_cells of the root), and the log evidence of each row.
    // Columns are nodes; a code below 0 is a missing cell, n_states + k the k-th likelihood in the column's table
    // `soft` (n_likelihoods, n_states): only nodes that are not sliced may have these.
    std::pair<Owned, Owned> batch(const Codes& codes, const std::vector<int>& columns,
                                  const std::vector<Table>& soft) const {
        const size_t n_rows = codes.shape(0), n_columns = codes.shape(1);
        require(columns.size() == n_columns && soft.size() == n_columns && tree_.root >= 0,
                "columns do not fit the tree");
        std::vector<SoftCells> cells;
        for (size_t k = 0; k < n_columns; ++k) {
            require(int64_t(soft[k].shape(1)) == tree_.network.sizes.at(columns[k]),
                    "a likelihood has one number for each state");
            cells.push_back({soft[k].data(), int64_t(soft[k].shape(0))});
        }
        const size_t width = size_t(tree_.cliques[tree_.root].cells());
        std::vector<double> out(n_rows * width), log_evidence(n_rows);
        {
            nb::gil_scoped_release unlocked;
            Batch rows(tree_, observed_, columns, cells, n_rows);
            for (size_t row = 0; row < n_rows; ++row) {
                if (row % 64 == 0) check_interrupts();
                log_evidence[row] = rows.row(codes.data() + row * n_columns, out.data() + row * width);
            }
        }
        return {owned(std::move(out), {n_rows, width}), owned(std::move(log_evidence), {n_rows})};
    }

private:
    Tree tree_;
    std::vector<uint8_t> observed_;

    Findings findings(const std::vector<int32_t>& states, const std::vector<std::pair<int, Vector>>& soft) const {
        Findings seen{states, std::vector<const double*>(states.size(), nullptr)};
        require(states.size() == tree_.network.sizes.size(), "one state for each node is needed");
        for (size_t node = 0; node < states.size(); ++node)
            require(!observed_[node] || (states[node] >= 0 && states[node] < tree_.network.sizes[node]),
                    "an observed node has no state");
        for (const auto& [node, likelihood] : soft) {
            require(int64_t(likelihood.shape(0)) == tree_.network.sizes.at(node),
                    "a likelihood has one number for each state");
            seen.likelihood[node] = likelihood.data();
        }
        return seen;
    }
};

}  // namespace

void bind_factors(nb::module_& m) {
    nb::class_<NetworkTables>(m, "NetworkTables")
        .def(nb::init<const std::vector<int64_t>&, const std::vector<std::vector<int>>&, const std::vector<Table>&>(),
             "sizes"_a, "parents"_a, "tables"_a)
        .def("order", &NetworkTables::order, "most_work"_a);
    nb::class_<JunctionTree>(m, "JunctionTree")
        .def(nb::init<const NetworkTables&, const std::vector<uint8_t>&, const std::vector<uint8_t>&,
                      const std::vector<int>&, bool, bool, const std::vector<int>&>(),
             nb::keep_alive<1, 2>(), "tables"_a, "relevant"_a, "observed"_a, "last"_a, "last_is_root"_a,
             "maximise_all"_a, "order"_a = std::vector<int>())
        .def_prop_ro("n_cells", &JunctionTree::n_cells)
        .def_prop_ro("n_bytes", &JunctionTree::n_bytes)
        .def_prop_ro("planned", &JunctionTree::planned)
        .def_prop_ro("n_cliques", &JunctionTree::n_cliques)
        .def("posterior", &JunctionTree::posterior)
        .def("marginals", &JunctionTree::marginals)
        .def("best", &JunctionTree::best)
        .def("batch", &JunctionTree::batch);
}

}  // namespace bayeswise::networks
