// How often each cell of every table is used by rows with missing cells, in expectation: one junction tree for each pattern of
// missing cells, messages up and down for each row, every family read off the clique that holds its table.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/interrupts.hpp"
#include "common/require.hpp"
#include "networks/factors.hpp"
#include "networks/propagation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Codes = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class ExpectedCounts {
public:
    ExpectedCounts(const std::vector<int64_t>& sizes, const std::vector<std::vector<int>>& parents,
                   const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed)
        : observed_(observed) {
        const size_t n = sizes.size();
        require(parents.size() == n && relevant.size() == n && observed.size() == n,
                "one entry for each node is needed");
        tree_.network.sizes = sizes;
        tree_.network.parents = parents;
        for (size_t node = 0; node < n; ++node) {
            first_.push_back(n_entries_);
            int64_t cells = sizes[node];
            for (int parent : parents[node]) cells *= sizes.at(parent);
            n_entries_ += cells;
        }
        tree_.network.tables.assign(n, nullptr);
        tree_.compile(relevant, observed, {}, false, false);
    }

    double n_cells() const { return tree_.n_cells; }
    bool planned() const { return tree_.planned; }

    // All tables one after the other; they are kept until others are given.
    void use(const Numbers& tables) {
        require(int64_t(tables.shape(0)) == n_entries_, "the tables do not have their size");
        tables_ = tables;
        for (size_t node = 0; node < first_.size(); ++node) tree_.network.tables[node] = tables_.data() + first_[node];
        prepared_.assign(tree_.cliques.size(), {});
        for (size_t c = 0; c < tree_.cliques.size(); ++c) {
            const auto& uses = tree_.cliques[c].uses;
            if (std::any_of(uses.begin(), uses.end(), [](const Use& each) { return !each.fixed.empty(); })) continue;
            prepared_[c].assign(size_t(tree_.cliques[c].cells()), 1.0);
            for (const Use& each : uses) multiply(prepared_[c].data(), each.walk, 0, tree_.network.tables[each.node]);
        }
    }

    // Adds w P(cell of a table | row) to the counts; the answer is the sum of w log P(row). Code n_states + k is the k-th
    // likelihood in the column's table `soft` (n_likelihoods, n_states), which only columns that are not cut out have.
    double add(const Codes& codes, const std::vector<int>& columns, const std::vector<Table>& soft,
               const Numbers& weights, const Sums& counts) const {
        const size_t n_rows = codes.shape(0);
        require(columns.size() == codes.shape(1) && weights.shape(0) == n_rows &&
                    int64_t(counts.shape(0)) == n_entries_ && tables_.is_valid(),
                "rows, weights and counts do not fit");
        Row seen = row_of(columns, soft);
        const nb::gil_scoped_release unlocked;
        Run<double> run(tree_);
        Run<Wide> wide(tree_);
        double log_likelihood = 0.0;
        for (size_t row = 0; row < n_rows; ++row) {
            if (row % 64 == 0) check_interrupts();
            find(seen, codes, row, columns);
            const double weight = weights(row);
            bool possible = run.collect(seen.found, &prepared_);
            if (possible && !run.lost) run.distribute();
            if (!run.lost) {
                log_likelihood += weight * run.log_evidence;
                if (possible) spread(run, seen.found, weight, counts.data());
                continue;
            }
            possible = wide.collect(seen.found);
            log_likelihood += weight * wide.log_evidence;
            if (!possible) continue;
            wide.distribute();
            spread(wide, seen.found, weight, counts.data());
        }
        return log_likelihood;
    }

    // log P(row) of each row.
    void log_evidence(const Codes& codes, const std::vector<int>& columns, const std::vector<Table>& soft,
                      const Sums& out) const {
        const size_t n_rows = codes.shape(0);
        require(columns.size() == codes.shape(1) && out.shape(0) == n_rows && tables_.is_valid(),
                "rows and answers do not fit");
        Row seen = row_of(columns, soft);
        const nb::gil_scoped_release unlocked;
        Run<double> run(tree_);
        Run<Wide> wide(tree_);
        for (size_t row = 0; row < n_rows; ++row) {
            if (row % 64 == 0) check_interrupts();
            find(seen, codes, row, columns);
            run.collect(seen.found, &prepared_);
            if (run.lost) wide.collect(seen.found);
            out(row) = run.lost ? wide.log_evidence : run.log_evidence;
        }
    }

private:
    // What is known of one row, and for each of its columns the likelihoods that stand for a code: states, then soft ones.
    struct Row {
        Findings found;
        std::vector<std::vector<double>> likelihoods;
    };

    Row row_of(const std::vector<int>& columns, const std::vector<Table>& soft) const {
        require(soft.size() == columns.size(), "one table of likelihoods for each column is needed");
        const size_t n_nodes = tree_.network.sizes.size();
        Row row{{std::vector<int32_t>(n_nodes, -1), std::vector<const double*>(n_nodes, nullptr)}, {}};
        row.likelihoods.resize(columns.size());
        for (size_t k = 0; k < columns.size(); ++k) {
            const int64_t size = tree_.network.sizes.at(columns[k]);
            std::vector<double>& each = row.likelihoods[k];
            each.assign(size_t(size * size), 0.0);
            for (int64_t s = 0; s < size; ++s) each[size_t(s * size + s)] = 1.0;
            require(int64_t(soft[k].shape(1)) == size, "a likelihood has one number for each state");
            each.insert(each.end(), soft[k].data(), soft[k].data() + soft[k].size());
        }
        return row;
    }

    void find(Row& row, const Codes& codes, size_t at, const std::vector<int>& columns) const {
        for (size_t k = 0; k < columns.size(); ++k) {
            const int node = columns[k];
            const int64_t code = codes(at, k), size = tree_.network.sizes[node];
            const int64_t n_codes = observed_[node] ? size : int64_t(row.likelihoods[k].size()) / size;
            require(code < n_codes && (!observed_[node] || code >= 0), "a code is not a state");
            if (observed_[node])
                row.found.state[node] = int32_t(code);
            else
                row.found.likelihood[node] = code < 0 ? nullptr : row.likelihoods[k].data() + code * size;
        }
    }

    template <typename T>
    void spread(const Run<T>& run, const Findings& seen, double weight, double* counts) const {
        for (const Use& use : tree_.constants) counts[first_[use.node] + run.base(use, seen)] += weight;
        for (size_t c = 0; c < tree_.cliques.size(); ++c)
            for (const Use& use : tree_.cliques[c].uses) {
                double* table = counts + first_[use.node];
                const T* cells = run.potential[c].data();
                use.walk.over(run.base(use, seen), [&](int64_t cell, int64_t at, int64_t count, int64_t step) {
                    for (int64_t k = 0; k < count; ++k) table[at + k * step] += weight * plain(cells[cell + k]);
                });
            }
    }

    Tree tree_;
    std::vector<uint8_t> observed_;
    std::vector<int64_t> first_;  // of each table in the list of all entries
    int64_t n_entries_ = 0;
    Numbers tables_;
    std::vector<std::vector<double>> prepared_;
};

}  // namespace

void bind_expected_counts(nb::module_& m) {
    nb::class_<ExpectedCounts>(m, "ExpectedCounts")
        .def(nb::init<const std::vector<int64_t>&, const std::vector<std::vector<int>>&, const std::vector<uint8_t>&,
                      const std::vector<uint8_t>&>(),
             "sizes"_a, "parents"_a, "relevant"_a, "observed"_a)
        .def_prop_ro("n_cells", &ExpectedCounts::n_cells)
        .def_prop_ro("planned", &ExpectedCounts::planned)
        .def("use", &ExpectedCounts::use, "tables"_a.noconvert())
        .def("add", &ExpectedCounts::add, "codes"_a.noconvert(), "columns"_a, "soft"_a, "weights"_a.noconvert(),
             "counts"_a.noconvert())
        .def("log_evidence", &ExpectedCounts::log_evidence, "codes"_a.noconvert(), "columns"_a, "soft"_a,
             "out"_a.noconvert());
}

}  // namespace bayeswise::networks
