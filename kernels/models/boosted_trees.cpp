// Trees of Newton steps: the splits of one tree, and what trees add to the scores of rows, by feature.
//
// Sums of a node run over its rows in the order in which they are given; those of the larger of two branches are what
// the smaller one leaves of its node. Of splits of equal gain the first is made, so that a tree is a function of
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

constexpr double kNoGain = 1e-9;

// What the rows of a node, or of one of its bins, sum up to.
struct Sums {
    double slope = 0.0, curvature = 0.0, weight = 0.0;

    void add(const Sums& other) {
        slope += other.slope;
        curvature += other.curvature;
        weight += other.weight;
    }
    void subtract(const Sums& other) {
        slope -= other.slope;
        curvature -= other.curvature;
        weight -= other.weight;
    }
};

struct Limits {
    int64_t n_splits;
    double least_weight, least_curvature;  // of a branch
    double ridge;

    bool too_small(const Sums& branch) const {
        return branch.weight < least_weight || branch.curvature < least_curvature;
    }
};

struct Node {
    int64_t begin = 0, end = 0;    // of its rows
    std::vector<Sums> bins;        // of offered features, one after the other; none once it is split, or cannot be
    int64_t feature = 0, bin = 0;  // of its best split
    double gain = kNoGain;         // of that split
};

// Nodes are numbered as they come: split k of a tree leads to nodes 2 k + 1 and 2 k + 2. Only the
// features `offered` are split on.
class Tree {
public:
    Tree(const uint8_t* codes, int64_t n_features, const int64_t* n_bins, const std::vector<int64_t>& offered,
         const double* weight, const double* slope, const double* curvature, int64_t n_rows, const Limits& limits)
        : codes_(codes), n_features_(n_features), offered_(offered), weight_(weight), slope_(slope),
          curvature_(curvature), limits_(limits), rows_(static_cast<std::size_t>(n_rows)),
          spare_(static_cast<std::size_t>(n_rows)) {
        for (const int64_t feature : offered) {
            first_.push_back(n_cells_);
            n_cells_ += n_bins[feature];
        }
        first_.push_back(n_cells_);
        for (int64_t r = 0; r < n_rows; ++r) rows_[static_cast<std::size_t>(r)] = r;
    }

    // The split of the largest gain is made next (best-first); those that are left have node -1.
    void grow(int64_t* node, int64_t* feature, int64_t* bin) {
        nodes_.reserve(static_cast<std::size_t>(2 * limits_.n_splits + 1));
        nodes_.emplace_back();
        nodes_[0].end = static_cast<int64_t>(rows_.size());
        nodes_[0].bins = summed(nodes_[0].begin, nodes_[0].end);
        choose(nodes_[0]);
        for (int64_t k = 0; k < limits_.n_splits; ++k) {
            const auto best = std::max_element(
                nodes_.begin(), nodes_.end(), [](const Node& one, const Node& other) { return one.gain < other.gain; });
            if (!(best->gain > kNoGain)) return;
            node[k] = best - nodes_.begin();
            feature[k] = best->feature;
            bin[k] = best->bin;
            if (k + 1 == limits_.n_splits) return;
            Node below, above;
            split(*best, below, above);
            best->gain = kNoGain;
            choose(below);
            choose(above);
            nodes_.push_back(std::move(below));
            nodes_.push_back(std::move(above));
        }
    }

private:
    std::vector<Sums> summed(int64_t begin, int64_t end) const {
        std::vector<Sums> bins(static_cast<std::size_t>(n_cells_));
        for (int64_t k = begin; k < end; ++k) {
            const int64_t row = rows_[static_cast<std::size_t>(k)];
            const uint8_t* code = codes_ + row * n_features_;
            const Sums own{slope_[row], curvature_[row], weight_[row]};
            for (std::size_t f = 0; f < offered_.size(); ++f)
                bins[static_cast<std::size_t>(first_[f] + code[offered_[f]])].add(own);
        }
        return bins;
    }

    // The split of the largest gain, the first of equal ones; a node without one keeps no sums.
    void choose(Node& node) const {
        Sums all;
        for (int64_t cell = first_[0]; cell < first_[1]; ++cell) all.add(node.bins[static_cast<std::size_t>(cell)]);
        const double before = worth(all);
        for (std::size_t f = 0; f < offered_.size(); ++f) {
            const int64_t from = first_[f], to = first_[f + 1];
            Sums below;
            for (int64_t cell = from; cell + 1 < to; ++cell) {
                below.add(node.bins[static_cast<std::size_t>(cell)]);
                Sums above = all;
                above.subtract(below);
                if (limits_.too_small(below)) continue;
                if (limits_.too_small(above)) break;
                const double gain = worth(below) + worth(above) - before;
                if (gain > node.gain) {
                    node.gain = gain;
                    node.feature = offered_[f];
                    node.bin = cell + 1 - from;
                }
            }
        }
        if (!(node.gain > kNoGain)) node.bins = {};
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
    const std::vector<int64_t>& offered_;
    const double *weight_, *slope_, *curvature_;
    const Limits limits_;
    std::vector<int64_t> rows_, spare_;  // the rows of each node side by side
    std::vector<int64_t> first_;         // the place of the first bin of each offered feature
    std::vector<Node> nodes_;
    int64_t n_cells_ = 0;
};

// The split of each node, -1 where it has none.
void splits_of_nodes(const int64_t* node, int64_t n_splits, int64_t* split) {
    std::fill_n(split, 2 * n_splits + 1, -1);
    for (int64_t k = 0; k < n_splits; ++k)
        if (node[k] >= 0) split[node[k]] = k;
}

void grow_tree(const Codes& codes, const Places& n_bins, const Places& offered, const Numbers& weight,
               const Numbers& slope, const Numbers& curvature, double least_weight, double least_curvature,
               double ridge, const OutPlaces& node, const OutPlaces& feature, const OutPlaces& bin,
               const OutPlaces& leaf) {
    const auto n_rows = static_cast<int64_t>(codes.shape(0)), n_features = static_cast<int64_t>(codes.shape(1));
    const auto n_learning = static_cast<int64_t>(slope.shape(0));
    const auto n_splits = static_cast<int64_t>(node.shape(0));
    require(n_splits >= 1 && n_features > 0, "a tree splits on features");
    require(static_cast<int64_t>(n_bins.shape(0)) == n_features, "codes and bins differ in features");
    require(n_learning <= n_rows && static_cast<int64_t>(weight.shape(0)) == n_learning &&
                static_cast<int64_t>(curvature.shape(0)) == n_learning && static_cast<int64_t>(leaf.shape(0)) == n_rows,
            "codes, weights, slopes, curvatures and leaves differ in rows");
    require(static_cast<int64_t>(feature.shape(0)) == n_splits && static_cast<int64_t>(bin.shape(0)) == n_splits,
            "nodes, features and bins differ in splits");
    bool fits = true;
    for (int64_t f = 0; f < n_features; ++f) fits &= n_bins.data()[f] >= 1 && n_bins.data()[f] <= 256;
    require(fits, "a feature has 1 to 256 bins");
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t f = 0; f < n_features; ++f) fits &= codes.data()[r * n_features + f] < n_bins.data()[f];
    require(fits, "a code lies outside its bins");
    const std::vector<int64_t> among(offered.data(), offered.data() + offered.shape(0));
    require(
        !among.empty() && std::all_of(among.begin(), among.end(), [=](int64_t f) { return f >= 0 && f < n_features; }),
        "a tree splits on features that are not there");
    nb::gil_scoped_release release;
    std::fill_n(node.data(), n_splits, -1);
    std::fill_n(feature.data(), n_splits, 0);
    std::fill_n(bin.data(), n_splits, 0);
    Tree(codes.data(), n_features, n_bins.data(), among, weight.data(), slope.data(), curvature.data(), n_learning,
         {n_splits, least_weight, least_curvature, ridge})
        .grow(node.data(), feature.data(), bin.data());
    std::vector<int64_t> split(static_cast<std::size_t>(2 * n_splits + 1));
    splits_of_nodes(node.data(), n_splits, split.data());
    for (int64_t r = 0; r < n_rows; ++r) {
        const uint8_t* code = codes.data() + r * n_features;
        int64_t at = 0;
        for (int64_t k; (k = split[static_cast<std::size_t>(at)]) >= 0;)
            at = 2 * k + 1 + (code[feature.data()[k]] >= bin.data()[k]);
        leaf.data()[r] = at;
    }
}

void add_by_feature(const Matrix& numbers, const Places& state, const PlaceTable& node, const PlaceTable& feature,
                    const Matrix& threshold, const Matrix& value, const OutCube& added) {
    const auto n_rows = static_cast<int64_t>(numbers.shape(0)), n_features = static_cast<int64_t>(numbers.shape(1));
    const auto n_trees = static_cast<int64_t>(state.shape(0)), n_splits = static_cast<int64_t>(node.shape(1));
    const auto n_states = static_cast<int64_t>(added.shape(1)), n_nodes = 2 * n_splits + 1;
    const auto of_trees = [&](const auto& array, int64_t n) {
        return static_cast<int64_t>(array.shape(0)) == n_trees && static_cast<int64_t>(array.shape(1)) == n;
    };
    require(of_trees(node, n_splits) && of_trees(feature, n_splits) && of_trees(threshold, n_splits) &&
                of_trees(value, n_nodes),
            "the nodes of trees do not match each other");
    require(static_cast<int64_t>(added.shape(0)) == n_rows && static_cast<int64_t>(added.shape(2)) == n_features,
            "what is added has not the rows and features of the numbers");
    bool fits = true;
    for (int64_t t = 0; t < n_trees; ++t) {
        fits &= state.data()[t] >= 0 && state.data()[t] < n_states;
        for (int64_t k = 0; k < n_splits; ++k) {
            const int64_t at = node.data()[t * n_splits + k], about = feature.data()[t * n_splits + k];
            fits &= at >= -1 && at <= 2 * k && about >= 0 && about < n_features;
        }
    }
    require(fits, "a tree adds to a state or splits on a feature that is not there");
    nb::gil_scoped_release release;
    std::vector<int64_t> split(static_cast<std::size_t>(n_trees * n_nodes));
    for (int64_t t = 0; t < n_trees; ++t)
        splits_of_nodes(node.data() + t * n_splits, n_splits, split.data() + t * n_nodes);
    for (int64_t r = 0; r < n_rows; ++r) {
        const double* x = numbers.data() + r * n_features;
        for (int64_t t = 0; t < n_trees; ++t) {
            const int64_t *split_at = split.data() + t * n_nodes, *about = feature.data() + t * n_splits;
            const double *cut = threshold.data() + t * n_splits, *worth = value.data() + t * n_nodes;
            double* out = added.data() + (r * n_states + state.data()[t]) * n_features;
            int64_t at = 0;
            for (int64_t k; (k = split_at[at]) >= 0;) {
                const int64_t after = 2 * k + 1 + (x[about[k]] >= cut[k]);
                out[about[k]] += worth[after] - worth[at];
                at = after;
            }
        }
    }
}

}  // namespace

void bind_boosted_trees(nb::module_& m) {
    m.def("grow_tree", &grow_tree, "codes"_a.noconvert(), "n_bins"_a.noconvert(), "offered"_a.noconvert(),
          "weight"_a.noconvert(), "slope"_a.noconvert(), "curvature"_a.noconvert(), "least_weight"_a,
          "least_curvature"_a, "ridge"_a, "node"_a.noconvert(), "feature"_a.noconvert(), "bin"_a.noconvert(),
          "leaf"_a.noconvert(),
          "The splits of a tree on the offered features, by the first rows, those that have a slope, and the leaf of "
          "all rows.");
    m.def("add_by_feature", &add_by_feature, "numbers"_a.noconvert(), "state"_a.noconvert(), "node"_a.noconvert(),
          "feature"_a.noconvert(), "threshold"_a.noconvert(), "value"_a.noconvert(), "added"_a.noconvert(),
          "added[row, state, feature] += what the splits of trees about a feature add to the scores of a row");
}

}  // namespace bayeswise::models
