// Products, sums and maxima of factors over named axes: a junction tree that is compiled once and run many times.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace bayeswise::networks {

// A positive number whose exponent never runs out: what doubles are replaced by once they would underflow.
struct Wide {
    double mantissa = 0.0;  // 0, or in [0.5, 1)
    int64_t exponent = 0;

    Wide() = default;
    Wide(double value) {
        int shift = 0;
        mantissa = std::frexp(value, &shift);
        exponent = shift;
    }
    static Wide of(double value, int64_t exponent) {
        Wide result(value);
        if (result.mantissa != 0.0) result.exponent += exponent;
        return result;
    }
    Wide& operator*=(const Wide& other) { return *this = of(mantissa * other.mantissa, exponent + other.exponent); }
    Wide& operator/=(const Wide& other) { return *this = of(mantissa / other.mantissa, exponent - other.exponent); }
    Wide& operator+=(const Wide& other) {
        if (other.mantissa == 0.0) return *this;
        if (mantissa == 0.0) return *this = other;
        const int64_t top = exponent > other.exponent ? exponent : other.exponent;
        return *this = of(down(mantissa, exponent - top) + down(other.mantissa, other.exponent - top), top);
    }
    bool operator>(const Wide& other) const {
        if (mantissa == 0.0 || other.mantissa == 0.0) return mantissa > other.mantissa;
        return exponent != other.exponent ? exponent > other.exponent : mantissa > other.mantissa;
    }
    static double down(double value, int64_t shift) { return shift < -1200 ? 0.0 : std::ldexp(value, int(shift)); }
};

inline bool is_zero(double value) { return value == 0.0; }
inline bool is_zero(const Wide& value) { return value.mantissa == 0.0; }
inline double log_of(double value) { return std::log(value); }
inline double log_of(const Wide& value) {
    return std::log(value.mantissa) + double(value.exponent) * 0.6931471805599453;
}
inline double plain(double value) { return value; }
inline double plain(const Wide& value) { return Wide::down(value.mantissa, value.exponent); }

// Below this a double may have lost parts that matter once they are divided by it.
constexpr double kTooSmall = 1e-200;
inline bool too_small(double value) { return value < kTooSmall; }
inline bool too_small(const Wide&) { return false; }

// How the cells of a clique, in their order, walk through a factor: axes with equal steps are joined.
struct Walk {
    std::vector<int64_t> sizes, strides;

    Walk() = default;
    Walk(const std::vector<int64_t>& all_sizes, const std::vector<int64_t>& all_strides) {
        sizes.reserve(all_sizes.size());
        strides.reserve(all_sizes.size());
        for (size_t axis = 0; axis < all_sizes.size(); ++axis) {
            if (all_sizes[axis] == 1) continue;
            if (!sizes.empty() && strides.back() == all_strides[axis] * all_sizes[axis]) {
                sizes.back() *= all_sizes[axis];
                strides.back() = all_strides[axis];
            } else {
                sizes.push_back(all_sizes[axis]);
                strides.push_back(all_strides[axis]);
            }
        }
        if (sizes.empty()) sizes.push_back(1), strides.push_back(0);
    }

    // visit(first cell, first offset, number of cells, step of the offset)
    template <typename Visit>
    void over(int64_t offset, Visit visit) const {
        const size_t inner = sizes.size() - 1;
        const int64_t count = sizes[inner], step = strides[inner];
        if (inner == 0) return visit(int64_t(0), offset, count, step);
        // the two innermost axes are plain loops, the others an odometer
        const size_t outer = inner - 1;
        const int64_t rows = sizes[outer], stride = strides[outer];
        int64_t counter[64] = {0};
        std::vector<int64_t> many;
        int64_t* at = counter;
        if (outer > 64) many.assign(outer, 0), at = many.data();
        for (int64_t cell = 0;;) {
            for (int64_t row = 0; row < rows; ++row, cell += count, offset += stride) visit(cell, offset, count, step);
            offset -= stride * rows;
            size_t axis = outer;
            for (;;) {
                if (axis == 0) return;
                --axis;
                offset += strides[axis];
                if (++at[axis] < sizes[axis]) break;
                offset -= strides[axis] * sizes[axis];
                at[axis] = 0;
            }
        }
    }
};

// Joins each cell with the one of a factor that it walks to.
template <typename T, typename S, typename Join>
void combine(T* cells, const Walk& walk, int64_t offset, const S* factor, Join join) {
    walk.over(offset, [&](int64_t cell, int64_t from, int64_t count, int64_t step) {
        if (step == 0) {
            const T value(factor[from]);
            for (int64_t k = 0; k < count; ++k) join(cells[cell + k], value);
        } else {
            for (int64_t k = 0; k < count; ++k) join(cells[cell + k], T(factor[from + k * step]));
        }
    });
}
template <typename T, typename S>
void spread(T* cells, const Walk& walk, int64_t offset, const S* factor) {
    combine(cells, walk, offset, factor, [](T& cell, const T& value) { cell = value; });
}
template <typename T, typename S>
void multiply(T* cells, const Walk& walk, int64_t offset, const S* factor) {
    combine(cells, walk, offset, factor, [](T& cell, const T& value) { cell *= value; });
}
template <typename T, typename S>
void add(T* cells, const Walk& walk, int64_t offset, const S* factor) {
    combine(cells, walk, offset, factor, [](T& cell, const T& value) { cell += value; });
}

constexpr double kLargestTree = 1e12;  // cells; nobody has so much memory

// A set of nodes.
using Bits = std::vector<uint64_t>;
inline void put(Bits& bits, int k) { bits[size_t(k) >> 6] |= uint64_t(1) << (k & 63); }

struct Network {
    std::vector<int64_t> sizes;
    std::vector<std::vector<int>> parents;
    std::vector<const double*> tables;  // (parents..., node), the node's states adjacent
};

struct Use {   // a factor in a clique
    int node;  // whose table it is
    Walk walk;
    std::vector<std::pair<int, int64_t>> fixed;  // observed nodes of its scope with their strides
};

struct Clique {
    std::vector<int> scope;  // separator first, then what is eliminated here
    int64_t n_outer = 1, n_inner = 1;
    int parent = -1;
    bool maximise = false;
    std::vector<Use> uses;
    std::vector<std::pair<int, Walk>> findings;  // nodes that are eliminated here, and how to multiply them
    std::vector<int> children;
    Walk into_parent;  // walks the parent's cells through the separator
    int64_t cells() const { return n_outer * n_inner; }
};

struct Tree {
    Network network;
    std::vector<Clique> cliques;  // children before parents
    std::vector<int> home;        // node -> the clique that eliminates it, -1 if it is observed or absent
    std::vector<int> smallest;    // node -> the smallest clique that it is in, from which its marginal is read
    std::vector<Use> constants;   // tables all of whose nodes are observed
    double n_cells = 0.0;         // of all cliques
    double n_messages = 0.0;      // cells of all separators
    bool planned = true;          // false: planning was given up, and n_cells is the least that is needed
    int root = -1;                // the clique of the targets, if there is one

    // What a run with doubles keeps; wide numbers, which only evidence beyond doubles asks for, take twice as much.
    double n_bytes() const { return (n_cells + n_messages) * sizeof(double); }

    // stage 0 is eliminated first; stage 1 after it, by maximising, or not at all where it is the root; in the `order`
    // of nodes, if one is given
    void compile(const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed,
                 const std::vector<int>& last, bool last_is_root, bool maximise_all,
                 const std::vector<int>& order = {});
};

// By what the next node is chosen: the fewest edges added, these weighed by states, or a given order; ties by the size
// of the clique, then by lot or by the node.
struct Rule {
    enum Kind { fill, heavy_fill, given } kind = fill;
    uint64_t seed = 0;
    std::vector<double> rank;
};

struct Elimination {
    std::vector<int> order;
    std::vector<std::vector<int>> neighbours;  // of each node when it goes
    double n_cells = 0.0;                      // of all cliques, before any is swallowed
    bool complete = true;                      // false: it was given up, and n_cells is the least that there would be
    double work = 0.0;                         // words of bits that the search for it has looked at
};
// How far planning may go. An order is given up once its cliques have `most_cells`; `work` counts words of bits.
struct Effort {
    double most_cells, most_work, work = 0.0;
};
Elimination eliminate(std::vector<Bits> adjacent, const std::vector<int64_t>& sizes, const std::vector<int>& stage,
                      int n_stages, const Rule& rule, Effort& effort);
// In a given order, with no choice to be made.
Elimination eliminate_in(const std::vector<int>& order, std::vector<Bits> adjacent, const std::vector<int64_t>& sizes);
// Min-fill, and where that is large the best of several rules.
constexpr double kMostWork = 1e10;  // words for one plan: ten to twenty seconds
Elimination best_elimination(const std::vector<Bits>& adjacent, const std::vector<int64_t>& sizes,
                             const std::vector<int>& stage, int n_stages, double most_work = kMostWork);
// The same for all nodes of a network.
Elimination planned_order(const Network& network, double most_work);

}  // namespace bayeswise::networks
