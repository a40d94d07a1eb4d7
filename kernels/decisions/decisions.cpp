// From posteriors to actions, and from one prior to another: one pass over the rows, turned block by block.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::decisions {

namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;     // (n_rows, n_states)
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;    // (n_actions, n_states)
using Factors = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // (n_states,)
using Moved = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;          // (n_rows, n_states)
using Expected = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;       // (n_actions, n_rows)
using Best = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;          // (n_rows,)

constexpr int64_t kBlock = 512;  // rows, so that a block of a few states and actions stays in the first cache

BAYESWISE_INLINE void turn(const double* __restrict rows, int64_t count, int64_t n_states, double* __restrict share) {
    for (int64_t s = 0; s < n_states; ++s)
        for (int64_t r = 0; r < count; ++r) share[s * kBlock + r] = rows[r * n_states + s];
}

BAYESWISE_INLINE void turn_back(const double* __restrict share, int64_t count, int64_t n_states,
                                double* __restrict rows) {
    for (int64_t s = 0; s < n_states; ++s)
        for (int64_t r = 0; r < count; ++r) rows[r * n_states + s] = share[s * kBlock + r];
}

// sum_s p(s) cost[s], the states always in the same order, so that one row and a million give the same digits.
BAYESWISE_INLINE void weigh(const double* __restrict share, const double* __restrict cost, int64_t n_states,
                            int64_t count, double* __restrict total) {
    std::fill(total, total + count, 0.0);
    for (int64_t s = 0; s < n_states; ++s) {
        const double cell = cost[s];
        if (cell == 0.0) continue;
        for (int64_t r = 0; r < count; ++r) total[r] += share[s * kBlock + r] * cell;
    }
}

BAYESWISE_INLINE void keep_least(const double* __restrict total, int64_t action, int64_t count,
                                 double* __restrict least, int64_t* __restrict best) {
    for (int64_t r = 0; r < count; ++r) {
        best[r] = total[r] < least[r] ? action : best[r];
        least[r] = total[r] < least[r] ? total[r] : least[r];
    }
}

// An action that costs the same in every state costs exactly that: a sum over shares might miss it by a rounding.
bool is_flat(const double* cost, int64_t n_states) {
    return std::all_of(cost, cost + n_states, [cost](double cell) { return cell == cost[0]; });
}

void expected_costs(Rows probability, Table table, Expected expected, Best best) {
    const int64_t n_rows = int64_t(probability.shape(0)), n_states = int64_t(probability.shape(1));
    const int64_t n_actions = int64_t(table.shape(0));
    require(int64_t(table.shape(1)) == n_states && int64_t(expected.shape(0)) == n_actions &&
                int64_t(expected.shape(1)) == n_rows && int64_t(best.shape(0)) == n_rows && n_actions >= 1 &&
                n_states >= 1,
            "the arrays of a decision do not fit together");
    nb::gil_scoped_release unlocked;
    std::vector<double> share(size_t(n_states * kBlock)), least(kBlock);
    for (int64_t start = 0; start < n_rows; start += kBlock) {
        const int64_t count = std::min(kBlock, n_rows - start);
        on_isa_up_to_avx2<turn>(probability.data() + start * n_states, count, n_states, share.data());
        int64_t* chosen = best.data() + start;
        std::fill(chosen, chosen + count, int64_t(0));
        for (int64_t a = 0; a < n_actions; ++a) {
            const double* cost = table.data() + a * n_states;
            double* total = expected.data() + a * n_rows + start;
            if (is_flat(cost, n_states))
                std::fill(total, total + count, cost[0]);
            else
                on_isa_up_to_avx2<weigh>(share.data(), cost, n_states, count, total);
            if (a == 0)
                std::copy(total, total + count, least.data());
            else
                on_isa_up_to_avx2<keep_least>(total, a, count, least.data(), chosen);
        }
    }
}

BAYESWISE_INLINE void move_block(double* __restrict share, const double* __restrict factor, int64_t n_states,
                                 int64_t count, double* __restrict total) {
    std::fill(total, total + count, 0.0);
    for (int64_t s = 0; s < n_states; ++s) {
        double* state = share + s * kBlock;
        for (int64_t r = 0; r < count; ++r) {
            state[r] *= factor[s];
            total[r] += state[r];
        }
    }
    for (int64_t s = 0; s < n_states; ++s)
        for (int64_t r = 0; r < count; ++r) share[s * kBlock + r] /= total[r];
}

// p(s) factor(s), normalised; the first row that has nothing left, or -1.
int64_t shift_rows(Rows probability, Factors factor, Moved moved) {
    const int64_t n_rows = int64_t(probability.shape(0)), n_states = int64_t(probability.shape(1));
    require(int64_t(factor.shape(0)) == n_states && int64_t(moved.shape(0)) == n_rows &&
                int64_t(moved.shape(1)) == n_states,
            "the arrays of a prior shift do not fit together");
    nb::gil_scoped_release unlocked;
    std::vector<double> share(size_t(n_states * kBlock)), total(kBlock);
    for (int64_t start = 0; start < n_rows; start += kBlock) {
        const int64_t count = std::min(kBlock, n_rows - start);
        on_isa_up_to_avx2<turn>(probability.data() + start * n_states, count, n_states, share.data());
        on_isa_up_to_avx2<move_block>(share.data(), factor.data(), n_states, count, total.data());
        for (int64_t r = 0; r < count; ++r)
            if (!(total[r] > 0.0)) return start + r;
        on_isa_up_to_avx2<turn_back>(share.data(), count, n_states, moved.data() + start * n_states);
    }
    return -1;
}

}  // namespace

void bind_decisions(nb::module_& m) {
    m.def("expected_costs", &expected_costs, nb::arg("probability"), nb::arg("table"), nb::arg("expected").noconvert(),
          nb::arg("best").noconvert());
    m.def("shift_rows", &shift_rows, nb::arg("probability"), nb::arg("factor"), nb::arg("moved").noconvert());
}

}  // namespace bayeswise::decisions
