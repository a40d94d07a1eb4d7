// A Markov chain over orders of columns (Friedman and Koller 2003): an order is worth the product over nodes of the sum
// over the sets of parents that come before it. One step takes a node out and puts it back at a place drawn from all of
// them, which takes only the sums of each other node with and without it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/bits.hpp"
#include "common/interrupts.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::networks {

namespace {

using Sets = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (n_sets, n_words)
using Scores = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // (n_sets,) best first
using Order = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;        // (n,)
using Draws = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;   // (n_steps, 2) in [0, 1)
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;        // (n, n)

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kNegligible = 25.0;  // exp(-25) of a sum, times the sets of a list, is below 1e-6
constexpr int kWordBits = 64;

class Chain {
public:
    Chain(const Sets& sets, const Scores& scores, const std::vector<int64_t>& starts, const Order& order)
        : sets_(sets.data()), scores_(scores.data()), starts_(starts), n_words_(static_cast<int64_t>(sets.shape(1))),
          n_(static_cast<int>(order.shape(0))), order_(order.data()), before_(static_cast<std::size_t>(n_words_)) {
        require(sets.shape(0) == scores.shape(0) && starts.size() == static_cast<std::size_t>(n_) + 1 &&
                    starts.front() == 0 && starts.back() == static_cast<int64_t>(sets.shape(0)) &&
                    std::is_sorted(starts.begin(), starts.end()) && n_ <= n_words_ * kWordBits,
                "lists do not fit");
        std::vector<uint8_t> seen(static_cast<std::size_t>(n_));
        for (int k = 0; k < n_; ++k) {
            require(order_[k] >= 0 && order_[k] < n_ && !seen[order_[k]], "the order does not name every node once");
            seen[order_[k]] = 1;
        }
        now_.resize(static_cast<std::size_t>(n_));
        for (int k = 0; k < n_; ++k) {
            now_[order_[k]] = log_sum(order_[k]);
            put(order_[k], true);
        }
    }

    // Take a node out and put it back; the draws are which node, and which place.
    void step(double which, double where) {
        const int node = std::min(n_ - 1, static_cast<int>(which * n_));
        rest_.clear();
        for (int k = 0; k < n_; ++k)
            if (order_[k] != node) rest_.push_back(order_[k]);
        const auto at = static_cast<int>(std::find(order_, order_ + n_, node) - order_);
        own_.assign(n_, 0.0), without_.assign(n_, 0.0), with_.assign(n_, 0.0);
        clear();
        for (int k = 0; k < n_; ++k) {
            own_[k] = k == at ? now_[node] : log_sum(node);
            if (k == n_ - 1) break;
            const int other = rest_[k];
            without_[k] = k < at ? now_[other] : log_sum(other);
            put(node, true);
            with_[k] = k < at ? log_sum(other) : now_[other];
            put(node, false);
            put(other, true);
        }
        // At place j, the first j others come before the node, and the later ones after it.
        log_worth_.assign(n_, 0.0);
        double tail = 0.0;
        for (int j = n_ - 1; j >= 0; --j) {
            if (j < n_ - 1) tail += with_[j];
            log_worth_[j] = own_[j] + tail;
        }
        double head = 0.0, best = kMinusInfinity;
        for (int j = 0; j < n_; ++j) {
            log_worth_[j] += head;
            best = std::max(best, log_worth_[j]);
            if (j < n_ - 1) head += without_[j];
        }
        require(best > kMinusInfinity, "no place of a node is possible");
        double total = 0.0;
        for (double& worth : log_worth_) total += worth = std::exp(worth - best);
        double left = where * total;
        int place = 0;
        while (place < n_ - 1 && left >= log_worth_[place]) left -= log_worth_[place++];
        while (log_worth_[place] == 0.0) --place;  // rounding led past the last possible one
        std::copy(rest_.begin(), rest_.begin() + place, order_);
        order_[place] = node;
        now_[node] = own_[place];
        for (int k = 0; k < n_ - 1; ++k) now_[rest_[k]] = k < place ? without_[k] : with_[k];
        std::copy(rest_.begin() + place, rest_.end(), order_ + place + 1);
    }

    // Add P(edge | order) to each edge (parent, child); the log of what the order is worth.
    double add_edges(double* found) {
        double log_worth = 0.0;
        clear();
        for (int k = 0; k < n_; ++k) {
            const int node = order_[k];
            const double log_total = now_[node];
            log_worth += log_total;
            for (int64_t s = first(node); s < starts_[node + 1] && scores_[s] > log_total - kNegligible; ++s) {
                if (!comes_before(s)) continue;
                const double share = std::exp(scores_[s] - log_total);
                for (int64_t w = 0; w < n_words_; ++w)
                    for (uint64_t rest = sets_[s * n_words_ + w]; rest; rest &= rest - 1)
                        found[(w * kWordBits + bits::lowest(rest)) * n_ + node] += share;
            }
            put(node, true);
        }
        return log_worth;
    }

private:
    void clear() { std::fill(before_.begin(), before_.end(), 0); }
    void put(int node, bool there) {
        const uint64_t bit = uint64_t{1} << (node % kWordBits);
        uint64_t& word = before_[node / kWordBits];
        word = there ? word | bit : word & ~bit;
    }
    bool comes_before(int64_t set) const {
        for (int64_t w = 0; w < n_words_; ++w)
            if (sets_[set * n_words_ + w] & ~before_[w]) return false;
        return true;
    }
    // The best set of a node that comes before it.
    int64_t first(int node) const {
        int64_t s = starts_[node];
        while (s < starts_[node + 1] && !comes_before(s)) ++s;
        return s;
    }
    double log_sum(int node) const {
        int64_t s = first(node);
        if (s == starts_[node + 1]) return kMinusInfinity;
        const double best = scores_[s];
        double total = 1.0;
        for (++s; s < starts_[node + 1] && scores_[s] > best - kNegligible; ++s)
            if (comes_before(s)) total += std::exp(scores_[s] - best);
        return best + std::log(total);
    }

    const uint64_t* sets_;
    const double* scores_;
    const std::vector<int64_t>& starts_;
    int64_t n_words_;
    int n_;
    int32_t* order_;
    std::vector<uint64_t> before_;
    std::vector<int32_t> rest_;
    std::vector<double> now_;  // (n,) the log sum of each node with what comes before it
    std::vector<double> own_, without_, with_, log_worth_;
};

// Steps of a chain, which change the order; after each `n` of them P(edge | order) is added to `found`. The logs of what
// the orders are worth, one for each time.
std::vector<double> order_chain(const Sets& sets, const Scores& scores, const std::vector<int64_t>& starts,
                                const Order& order, const Draws& draws, const Matrix& found) {
    const auto n = static_cast<int64_t>(order.shape(0)), n_steps = static_cast<int64_t>(draws.shape(0));
    require(
        draws.shape(1) == 2 && static_cast<int64_t>(found.shape(0)) == n && static_cast<int64_t>(found.shape(1)) == n,
        "draws or edges do not fit");
    const nb::gil_scoped_release unlocked;
    std::vector<double> log_worth;
    Chain chain(sets, scores, starts, order);
    for (int64_t k = 0; k < n_steps; ++k) {
        chain.step(draws.data()[2 * k], draws.data()[2 * k + 1]);
        if ((k + 1) % n == 0) {
            log_worth.push_back(chain.add_edges(found.data()));
            check_interrupts();
        }
    }
    return log_worth;
}

}  // namespace

void bind_order_chain(nb::module_& m) {
    m.def("order_chain", &order_chain, "sets"_a.noconvert(), "scores"_a.noconvert(), "starts"_a, "order"_a.noconvert(),
          "draws"_a.noconvert(), "found"_a.noconvert());
}

}  // namespace bayeswise::networks
