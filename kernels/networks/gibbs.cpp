// Gibbs sampling in blocks: each block of nodes is drawn together given all others, chain by chain.
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

namespace nb = nanobind;

namespace bayeswise::networks {

namespace {

using Cells = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Configurations = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Chains = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FactorParts = std::tuple<Cells, std::vector<std::pair<int, int64_t>>, Offsets>;
using BlockParts = std::tuple<std::vector<int>, Configurations, std::vector<FactorParts>>;

// xoshiro256**, seeded by splitmix64: each chain has its own, so threads do not matter.
struct Random {
    uint64_t state[4];
    explicit Random(uint64_t seed) {
        for (uint64_t& word : state) {
            seed += 0x9e3779b97f4a7c15u;
            uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            word = z ^ (z >> 31);
        }
    }
    static uint64_t turned(uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }
    double uniform() {  // in [0, 1)
        const uint64_t result = turned(state[1] * 5, 7) * 9, shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = turned(state[3], 45);
        return double(result >> 11) * 0x1.0p-53;
    }
};

struct Factor {
    const double* cells;
    std::vector<std::pair<int, int64_t>> outside;  // nodes that stay as they are, with their strides
    const int64_t* offsets;                        // one for each configuration of the block
};

struct Block {
    std::vector<int> nodes;
    size_t n_configurations;
    const int32_t* configurations;
    std::vector<Factor> factors;

    // P(configuration | all other nodes), normalised.
    void conditional(const int32_t* state, std::vector<double>& weight) const {
        weight.assign(n_configurations, 1.0);
        for (const Factor& factor : factors) {
            const double* from = factor.cells + base(factor, state);
            for (size_t k = 0; k < n_configurations; ++k) weight[k] *= from[factor.offsets[k]];
        }
        double total = 0.0;
        for (double each : weight) total += each;
        if (total < 1e-250) total = in_logarithms(state, weight);
        for (double& each : weight) each /= total;
    }

    static int64_t base(const Factor& factor, const int32_t* state) {
        int64_t offset = 0;
        for (const auto& [node, stride] : factor.outside) offset += stride * state[node];
        return offset;
    }

    // Many small factors: their product is taken relative to the largest.
    double in_logarithms(const int32_t* state, std::vector<double>& weight) const {
        weight.assign(n_configurations, 0.0);
        for (const Factor& factor : factors) {
            const double* from = factor.cells + base(factor, state);
            for (size_t k = 0; k < n_configurations; ++k) weight[k] += std::log(from[factor.offsets[k]]);
        }
        const double top = *std::max_element(weight.begin(), weight.end());
        require(top != -std::numeric_limits<double>::infinity(), "a chain is in an impossible state");
        double total = 0.0;
        for (double& each : weight) total += each = std::exp(each - top);
        return total;
    }

    void draw(int32_t* state, const std::vector<double>& weight, double uniform) const {
        size_t chosen = 0, last = 0;
        double passed = 0.0;
        for (size_t k = 0; k < n_configurations; ++k) {
            if (weight[k] == 0.0) continue;
            last = k;
            passed += weight[k];
            if (uniform < passed) break;
        }
        chosen = last;
        const int32_t* row = configurations + chosen * nodes.size();
        for (size_t j = 0; j < nodes.size(); ++j) state[nodes[j]] = row[j];
    }
};

std::vector<Block> blocks_of(const std::vector<BlockParts>& parts, size_t n_nodes) {
    std::vector<Block> blocks;
    for (const auto& [nodes, configurations, factors] : parts) {
        require(configurations.shape(1) == nodes.size() && configurations.shape(0) != 0,
                "a block needs configurations of its nodes");
        Block block{nodes, configurations.shape(0), configurations.data(), {}};
        for (int node : nodes) require(node >= 0 && size_t(node) < n_nodes, "a block has a node that is not there");
        for (const auto& [cells, outside, offsets] : factors) {
            require(offsets.shape(0) == block.n_configurations, "a factor does not fit its block");
            block.factors.push_back({cells.data(), outside, offsets.data()});
        }
        blocks.push_back(std::move(block));
    }
    return blocks;
}

// Sweeps over all blocks; of the target, which is node `place` of block `target`, the probabilities given all else are
// added up after `n_burn` sweeps, chain by chain, and so are their squares.
void gibbs(const std::vector<BlockParts>& parts, const Chains& chains, size_t target, size_t place, int64_t n_burn,
           int64_t n_sweeps, uint64_t seed, uint64_t first_chain, const Sums& sums, const Sums& squares) {
    const size_t n_chains = chains.shape(0), n_nodes = chains.shape(1), n_states = sums.shape(1);
    const std::vector<Block> blocks = blocks_of(parts, n_nodes);
    require(target < blocks.size() && place < blocks[target].nodes.size() && sums.shape(0) == n_chains &&
                squares.shape(0) == n_chains && squares.shape(1) == n_states,
            "the target does not fit");
    nb::gil_scoped_release unlocked;
    std::vector<double> weight, belief(n_states);
    for (size_t chain = 0; chain < n_chains; ++chain) {
        int32_t* state = chains.data() + chain * n_nodes;
        double *sum = sums.data() + chain * n_states, *square = squares.data() + chain * n_states;
        Random random(seed * 0x2545f4914f6cdd1du + first_chain + chain);
        for (int64_t sweep = 0; sweep < n_burn + n_sweeps; ++sweep) {
            check_interrupts();
            for (size_t b = 0; b < blocks.size(); ++b) {
                const Block& block = blocks[b];
                block.conditional(state, weight);
                if (b == target && sweep >= n_burn) {
                    std::fill(belief.begin(), belief.end(), 0.0);
                    for (size_t k = 0; k < block.n_configurations; ++k)
                        belief[size_t(block.configurations[k * block.nodes.size() + place])] += weight[k];
                    for (size_t s = 0; s < n_states; ++s) {
                        sum[s] += belief[s];
                        square[s] += belief[s] * belief[s];
                    }
                }
                block.draw(state, weight, random.uniform());
            }
        }
    }
}

}  // namespace

void bind_gibbs(nb::module_& m) { m.def("gibbs", &gibbs); }

}  // namespace bayeswise::networks
