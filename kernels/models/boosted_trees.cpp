// Trees of Newton steps: the questions of one tree, and what trees add to the scores of rows, by the number asked about.
//
// Sums of a node run over its rows in the order in which they are given; those of the larger of two branches are what
// the smaller one leaves of its node. Of questions that gain the same the first is asked, so that a tree is a function of
// the rows in their order.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::models {

namespace {

using Codes = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PlaceTable = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutPlaces = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutCube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr int64_t kDeepest = 16;
constexpr double kNoGain = 1e-9;

// What the rows of a node, or of one of its bins, sum up to.
struct Sums {
    double slope = 0.0, curvature = 0.0;

    void add(const Sums& other) {
        slope += other.slope;
        curvature += other.curvature;
    }
    void subtract(const Sums& other) {
        slope -= other.slope;
        curvature -= other.curvature;
    }
};

struct Limits {
    int64_t depth;
    double least_curvature, ridge;
};

struct Node {
    int64_t place = 0, level = 0;  // in the array of the tree, and below the root
    int64_t begin = 0, end = 0;    // of its rows
    std::vector<Sums> bins;        // of all features, one after the other
    int64_t feature = 0, bin = 0;  // of its question
};

class Tree {
public:
    Tree(const uint8_t* codes, int64_t n_features, const int64_t* n_bins, const double* slope, const double* curvature,
         int64_t n_rows, const Limits& limits)
        : codes_(codes), n_features_(n_features), slope_(slope), curvature_(curvature), limits_(limits),
          rows_(static_cast<std::size_t>(n_rows)), spare_(static_cast<std::size_t>(n_rows)) {
        for (int64_t f = 0; f < n_features; ++f) {
            first_.push_back(n_cells_);
            n_cells_ += n_bins[f];
        }
        first_.push_back(n_cells_);
        for (int64_t r = 0; r < n_rows; ++r) rows_[static_cast<std::size_t>(r)] = r;
    }

    // The question of each node, and bin 0 where it asks nothing.
    void grow(int64_t* feature, int64_t* bin) {
        std::vector<Node> open(1);
        open[0].end = static_cast<int64_t>(rows_.size());
        open[0].bins = summed(open[0].begin, open[0].end);
        while (!open.empty()) {
            Node node = std::move(open.back()), below, above;
            open.pop_back();
            if (!choose(node)) continue;
            feature[node.place] = node.feature;
            bin[node.place] = node.bin;
            if (node.level + 1 == limits_.depth) continue;
            split(node, below, above);
            open.push_back(std::move(above));
            open.push_back(std::move(below));
        }
    }

private:
    std::vector<Sums> summed(int64_t begin, int64_t end) const {
        std::vector<Sums> bins(static_cast<std::size_t>(n_cells_));
        for (int64_t k = begin; k < end; ++k) {
            const int64_t row = rows_[static_cast<std::size_t>(k)];
            const uint8_t* code = codes_ + row * n_features_;
            const double slope = slope_[row], curvature = curvature_[row];
            for (int64_t f = 0; f < n_features_; ++f) {
                Sums& cell = bins[static_cast<std::size_t>(first_[static_cast<std::size_t>(f)] + code[f])];
                cell.slope += slope;
                cell.curvature += curvature;
            }
        }
        return bins;
    }

    // The question of the largest gain; false where none gains.
    bool choose(Node& node) const {
        double most = kNoGain;
        Sums all;
        for (int64_t cell = first_[0]; cell < first_[1]; ++cell) all.add(node.bins[static_cast<std::size_t>(cell)]);
        const double before = worth(all);
        for (int64_t f = 0; f < n_features_; ++f) {
            const int64_t from = first_[static_cast<std::size_t>(f)], to = first_[static_cast<std::size_t>(f) + 1];
            Sums below;
            for (int64_t cell = from; cell + 1 < to; ++cell) {
                below.add(node.bins[static_cast<std::size_t>(cell)]);
                Sums above = all;
                above.subtract(below);
                if (below.curvature < limits_.least_curvature) continue;
                if (above.curvature < limits_.least_curvature) break;
                const double gain = worth(below) + worth(above) - before;
                if (gain > most) {
                    most = gain;
                    node.feature = f;
                    node.bin = cell + 1 - from;
                }
            }
        }
        return most > kNoGain;
    }

    double worth(const Sums& sums) const { return sums.slope * sums.slope / (sums.curvature + limits_.ridge); }

    // Rows keep their order within each branch.
    void split(Node& node, Node& below, Node& above) {
        int64_t low = node.begin, high = 0;
        for (int64_t k = node.begin; k < node.end; ++k) {
            const int64_t row = rows_[static_cast<std::size_t>(k)];
            if (codes_[row * n_features_ + node.feature] < node.bin)
                rows_[static_cast<std::size_t>(low++)] = row;
            else
                spare_[static_cast<std::size_t>(high++)] = row;
        }
        std::copy(spare_.begin(), spare_.begin() + high, rows_.begin() + low);
        below.place = 2 * node.place + 1;
        above.place = below.place + 1;
        below.level = above.level = node.level + 1;
        below.begin = node.begin;
        below.end = above.begin = low;
        above.end = node.end;
        const bool fewer_below = low - node.begin <= high;
        Node &few = fewer_below ? below : above, &many = fewer_below ? above : below;
        few.bins = summed(few.begin, few.end);
        many.bins = std::move(node.bins);
        for (std::size_t cell = 0; cell < many.bins.size(); ++cell) many.bins[cell].subtract(few.bins[cell]);
    }

    const uint8_t* codes_;
    const int64_t n_features_;
    const double *slope_, *curvature_;
    const Limits limits_;
    std::vector<int64_t> rows_, spare_;  // the rows of each node side by side
    std::vector<int64_t> first_;         // the place of the first bin of each feature
    int64_t n_cells_ = 0;
};

void grow_tree(const Codes& codes, const Places& n_bins, const Numbers& slope, const Numbers& curvature, int64_t depth,
               double least_curvature, double ridge, const OutPlaces& feature, const OutPlaces& bin,
               const OutPlaces& leaf) {
    const auto n_rows = static_cast<int64_t>(codes.shape(0)), n_features = static_cast<int64_t>(codes.shape(1));
    const auto n_learning = static_cast<int64_t>(slope.shape(0));
    require(depth >= 1 && depth <= kDeepest && n_features > 0, "a tree has a depth and asks about features");
    require(static_cast<int64_t>(n_bins.shape(0)) == n_features, "codes and bins differ in features");
    require(n_learning <= n_rows && static_cast<int64_t>(curvature.shape(0)) == n_learning &&
                static_cast<int64_t>(leaf.shape(0)) == n_rows,
            "codes, slopes, curvatures and leaves differ in rows");
    const int64_t n_nodes = (int64_t{1} << depth) - 1;
    require(static_cast<int64_t>(feature.shape(0)) == n_nodes && static_cast<int64_t>(bin.shape(0)) == n_nodes,
            "the nodes are not those of a tree of this depth");
    bool fits = true;
    for (int64_t f = 0; f < n_features; ++f) fits &= n_bins.data()[f] >= 1 && n_bins.data()[f] <= 256;
    require(fits, "a feature has 1 to 256 bins");
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t f = 0; f < n_features; ++f) fits &= codes.data()[r * n_features + f] < n_bins.data()[f];
    require(fits, "a code lies outside its bins");
    nb::gil_scoped_release release;
    std::fill_n(feature.data(), n_nodes, 0);
    std::fill_n(bin.data(), n_nodes, 0);
    Tree(codes.data(), n_features, n_bins.data(), slope.data(), curvature.data(), n_learning,
         {depth, least_curvature, ridge})
        .grow(feature.data(), bin.data());
    for (int64_t r = 0; r < n_rows; ++r) {
        int64_t node = 0;
        const uint8_t* code = codes.data() + r * n_features;
        for (int64_t level = 0; level < depth; ++level) {
            const int64_t at = bin.data()[node];
            node = 2 * node + 1 + (at > 0 && code[feature.data()[node]] >= at);
        }
        leaf.data()[r] = node - n_nodes;
    }
}

void add_by_feature(const Matrix& numbers, const Places& state, const PlaceTable& feature, const Matrix& threshold,
                    const Matrix& value, const OutCube& added) {
    const auto n_rows = static_cast<int64_t>(numbers.shape(0)), n_features = static_cast<int64_t>(numbers.shape(1));
    const auto n_trees = static_cast<int64_t>(state.shape(0)), n_nodes = static_cast<int64_t>(feature.shape(1));
    const auto n_states = static_cast<int64_t>(added.shape(1));
    const auto of_trees = [&](const auto& array, int64_t n) {
        return static_cast<int64_t>(array.shape(0)) == n_trees && static_cast<int64_t>(array.shape(1)) == n;
    };
    require(of_trees(feature, n_nodes) && of_trees(threshold, n_nodes) && of_trees(value, 2 * n_nodes + 1),
            "the nodes of trees do not match each other");
    require(static_cast<int64_t>(added.shape(0)) == n_rows && static_cast<int64_t>(added.shape(2)) == n_features,
            "what is added has not the rows and features of the numbers");
    bool fits = true;
    for (int64_t t = 0; t < n_trees; ++t) {
        fits &= state.data()[t] >= 0 && state.data()[t] < n_states;
        for (int64_t k = 0; k < n_nodes; ++k) {
            const int64_t asked = feature.data()[t * n_nodes + k];
            fits &= asked >= 0 && asked < n_features;
        }
    }
    require(fits, "a tree adds to a state or asks about a feature that is not there");
    nb::gil_scoped_release release;
    for (int64_t r = 0; r < n_rows; ++r) {
        const double* x = numbers.data() + r * n_features;
        for (int64_t t = 0; t < n_trees; ++t) {
            const int64_t* asks = feature.data() + t * n_nodes;
            const double* cut = threshold.data() + t * n_nodes;
            const double* worth = value.data() + t * (2 * n_nodes + 1);
            double* out = added.data() + (r * n_states + state.data()[t]) * n_features;
            for (int64_t node = 0; node < n_nodes;) {
                const int64_t after = 2 * node + 1 + (x[asks[node]] >= cut[node]);
                out[asks[node]] += worth[after] - worth[node];
                node = after;
            }
        }
    }
}

}  // namespace

void bind_boosted_trees(nb::module_& m) {
    m.def("grow_tree", &grow_tree, "codes"_a.noconvert(), "n_bins"_a.noconvert(), "slope"_a.noconvert(),
          "curvature"_a.noconvert(), "depth"_a, "least_curvature"_a, "ridge"_a, "feature"_a.noconvert(),
          "bin"_a.noconvert(), "leaf"_a.noconvert(),
          "The questions of a tree of the first rows, those that have a slope, and the leaf of all rows.");
    m.def("add_by_feature", &add_by_feature, "numbers"_a.noconvert(), "state"_a.noconvert(), "feature"_a.noconvert(),
          "threshold"_a.noconvert(), "value"_a.noconvert(), "added"_a.noconvert(),
          "added[row, state, feature] += what the questions of trees about a feature add to the scores of a row");
}

}  // namespace bayeswise::models
