// Forward and backward along sequences of small matrices: how often each move between two states is made, in expectation.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/interrupts.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Shapes = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A matrix of each kind of step, its cells one after the other; that of a first step has one row.
struct Kinds {
    const double* cells;
    const int64_t* shapes;  // (n_kinds, 3) the first cell, rows and columns

    const double* at(int64_t kind) const { return cells + shapes[3 * kind]; }
    int64_t rows(int64_t kind) const { return shapes[3 * kind + 1]; }
    int64_t columns(int64_t kind) const { return shapes[3 * kind + 2]; }
};

// One sequence of kinds; adds P(move | all steps) to `sums`, and gives log of the product summed over all paths.
class Sequence {
public:
    explicit Sequence(Kinds kinds) : kinds_(kinds) {}

    double add(const int64_t* steps, int64_t n_steps, double* sums) {
        if (forward_.size() < size_t(n_steps)) forward_.resize(size_t(n_steps));
        double log_total = 0.0;
        for (int64_t t = 0; t < n_steps; ++t) {
            const int64_t kind = steps[t], n_rows = kinds_.rows(kind), n_columns = kinds_.columns(kind);
            const double* cell = kinds_.at(kind);
            std::vector<double>& out = forward_[size_t(t)];
            out.assign(size_t(n_columns), 0.0);
            for (int64_t i = 0; i < n_rows; ++i, cell += n_columns) {
                const double before = t ? forward_[size_t(t) - 1][size_t(i)] : 1.0;
                for (int64_t j = 0; j < n_columns; ++j) out[size_t(j)] += before * cell[j];
            }
            double total = 0.0;
            for (double entry : out) total += entry;
            if (!(total > 0.0)) return -std::numeric_limits<double>::infinity();
            for (double& entry : out) entry /= total;
            log_total += std::log(total);
        }
        backward_.assign(size_t(kinds_.columns(steps[n_steps - 1])), 1.0);
        for (int64_t t = n_steps; t-- > 0;) move(steps[t], t ? forward_[size_t(t) - 1].data() : nullptr, sums);
        return log_total;
    }

private:
    // Shares of the moves of a step, and what the steps from it on say of the state before it.
    void move(int64_t kind, const double* before, double* sums) {
        const int64_t n_rows = kinds_.rows(kind), n_columns = kinds_.columns(kind);
        const double* cell = kinds_.at(kind);
        earlier_.assign(size_t(n_rows), 0.0);
        double total = 0.0;
        for (int64_t i = 0; i < n_rows; ++i) {
            for (int64_t j = 0; j < n_columns; ++j)
                earlier_[size_t(i)] += cell[i * n_columns + j] * backward_[size_t(j)];
            total += (before ? before[i] : 1.0) * earlier_[size_t(i)];
        }
        double* sum = sums + (cell - kinds_.cells);
        for (int64_t i = 0; i < n_rows; ++i) {
            const double share = (before ? before[i] : 1.0) / total;
            for (int64_t j = 0; j < n_columns; ++j)
                sum[i * n_columns + j] += share * cell[i * n_columns + j] * backward_[size_t(j)];
        }
        const double top = *std::max_element(earlier_.begin(), earlier_.end());
        for (double& entry : earlier_) entry /= top;
        backward_.swap(earlier_);
    }

    Kinds kinds_;
    std::vector<std::vector<double>> forward_;
    std::vector<double> backward_, earlier_;
};

// `ends` closes each sequence in the list of `steps`; the answer is the sum of their logarithms.
double expected_moves(const Numbers& cells, const Shapes& shapes, const Places& steps, const Places& ends,
                      const Sums& sums) {
    require(shapes.shape(1) == 3 && sums.shape(0) == cells.shape(0), "shapes or sums do not fit");
    const Kinds kinds{cells.data(), shapes.data()};
    const int64_t n_kinds = int64_t(shapes.shape(0)), n_cells = int64_t(cells.shape(0));
    for (int64_t kind = 0; kind < n_kinds; ++kind) {
        const int64_t first = shapes(size_t(kind), 0), size = kinds.rows(kind) * kinds.columns(kind);
        require(first >= 0 && kinds.rows(kind) > 0 && kinds.columns(kind) > 0 && first + size <= n_cells,
                "a kind of step is not in the list of cells");
    }
    int64_t begin = 0;
    for (size_t s = 0; s < ends.shape(0); ++s) {
        require(ends(s) > begin && ends(s) <= int64_t(steps.shape(0)), "sequences do not fit the steps");
        for (int64_t t = begin; t < ends(s); ++t) {
            require(steps(size_t(t)) >= 0 && steps(size_t(t)) < n_kinds, "a step is of no kind");
            const int64_t n_before = t == begin ? 1 : kinds.columns(steps(size_t(t) - 1));
            require(kinds.rows(steps(size_t(t))) == n_before, "a step does not follow the one before");
        }
        begin = ends(s);
    }
    const nb::gil_scoped_release unlocked;
    Sequence sequence(kinds);
    double log_total = 0.0;
    begin = 0;
    for (size_t s = 0; s < ends.shape(0); ++s) {
        check_interrupts();
        log_total += sequence.add(steps.data() + begin, ends(s) - begin, sums.data());
        begin = ends(s);
    }
    return log_total;
}

}  // namespace

void bind_sequences(nb::module_& m) {
    m.def("expected_moves", &expected_moves, "cells"_a.noconvert(), "shapes"_a.noconvert(), "steps"_a.noconvert(),
          "ends"_a.noconvert(), "sums"_a.noconvert());
}

}  // namespace bayeswise::networks
