// Cuts of a column that shorten the description of the classes (Fayyad and Irani 1993).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>

#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Groups = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double kRounding = 1e-12;  // of the bits of a range: cuts closer than this are equal, and the first is taken

struct Row {
    double value;
    int32_t group;
    double weight() const { return 1.0; }
};

struct WeightedRow {
    double value;
    int32_t group;
    double mass;
    double weight() const { return mass; }
};

// n log2 n: from a table where n counts rows, computed where it sums weights.
class Bits {
public:
    explicit Bits(size_t n_rows) : table_(n_rows + 1) {
        for (size_t n = 1; n <= n_rows; ++n) table_[n] = direct(static_cast<double>(n));
    }
    Bits() = default;
    double operator()(double n) const { return table_.empty() ? direct(n) : table_[static_cast<size_t>(n)]; }

private:
    static double direct(double n) { return n > 0.0 ? n * std::log2(n) : 0.0; }
    std::vector<double> table_;
};

struct Part {
    double total = 0.0, bits = 0.0;  // n, n H
    int n_classes = 0;
    double cost() const { return total > 0.0 ? n_classes * bits / total : 0.0; }  // k H
};

template <typename R>
class Cutter {
public:
    Cutter(std::vector<R> rows, int n_groups, Bits bits)
        : rows_(std::move(rows)), bits_(std::move(bits)), whole_(n_groups), left_(n_groups) {
        std::sort(rows_.begin(), rows_.end(), [](const R& a, const R& b) { return a.value < b.value; });
    }

    std::vector<double> cuts() {
        std::vector<double> found;
        std::vector<std::pair<size_t, size_t>> pending{{0, rows_.size()}};
        while (!pending.empty()) {
            const auto [start, stop] = pending.back();
            pending.pop_back();
            const size_t at = best(start, stop);
            if (at == start) continue;
            found.push_back(midway(rows_[at - 1].value, rows_[at].value));
            pending.push_back({start, at});
            pending.push_back({at, stop});
        }
        std::sort(found.begin(), found.end());
        return found;
    }

private:
    // The place of the best cut of a range; its start if no cut is worth its bits.
    size_t best(size_t start, size_t stop) {
        std::fill(whole_.begin(), whole_.end(), 0.0);
        for (size_t r = start; r < stop; ++r) whole_[rows_[r].group] += rows_[r].weight();
        const Part all = part(whole_);
        std::fill(left_.begin(), left_.end(), 0.0);
        double least = all.bits, below = 0.0;
        size_t place = start;
        for (size_t r = start; r + 1 < stop; ++r) {
            left_[rows_[r].group] += rows_[r].weight();
            below += rows_[r].weight();
            if (!(rows_[r].value < rows_[r + 1].value)) continue;
            const double bits = split_bits(below, all.total - below);
            if (bits < least - kRounding * (all.bits + 1.0)) {
                least = bits;
                place = r + 1;
            }
        }
        return place != start && pays(all, start, place) ? place : start;
    }

    double split_bits(double below, double above) const {
        double bits = bits_(below) + bits_(std::max(above, 0.0));
        for (size_t g = 0; g < left_.size(); ++g) bits -= bits_(left_[g]) + bits_(std::max(whole_[g] - left_[g], 0.0));
        return bits;
    }

    bool pays(const Part& all, size_t start, size_t place) {
        std::vector<double> one(whole_.size(), 0.0), other(whole_);
        for (size_t r = start; r < place; ++r) one[rows_[r].group] += rows_[r].weight();
        for (size_t g = 0; g < one.size(); ++g) other[g] = std::max(other[g] - one[g], 0.0);
        const Part first = part(one), second = part(other);
        const double k = all.n_classes;
        const double classes = k * std::log2(3.0) + std::log1p(-2.0 * std::pow(3.0, -k)) / std::log(2.0);
        const double delta = classes - (all.cost() - first.cost() - second.cost());
        return all.bits - first.bits - second.bits > std::log2(std::max(all.total - 1.0, 1.0)) + delta;
    }

    Part part(const std::vector<double>& weights) const {
        Part found;
        for (const double weight : weights) {
            found.total += weight;
            found.bits -= bits_(weight);
            found.n_classes += weight > 0.0;
        }
        found.bits += bits_(found.total);
        return found;
    }

    // Above the lower value, not above the upper one, whatever rounds or overflows between them.
    static double midway(double low, double high) {
        const double step = low + (high - low) / 2.0;
        const double middle = std::isfinite(step) ? step : low / 2.0 + high / 2.0;
        return middle > low ? middle : high;
    }

    std::vector<R> rows_;
    Bits bits_;
    std::vector<double> whole_, left_;
};

std::vector<double> cut_points(Values values, Groups groups, int n_groups, std::optional<Values> weights) {
    const size_t n_rows = values.shape(0);
    require(groups.shape(0) == n_rows && (!weights || weights->shape(0) == n_rows),
            "values, groups and weights differ in length");
    bool fits = true;
    for (size_t r = 0; r < n_rows; ++r) fits &= groups.data()[r] >= 0 && groups.data()[r] < n_groups;
    require(fits, "a group lies outside");
    const auto value = [&](size_t r) { return values.data()[r] + 0.0; };  // one zero: -0.0 + 0.0 is 0.0
    nb::gil_scoped_release release;
    if (weights) {
        std::vector<WeightedRow> rows(n_rows);
        for (size_t r = 0; r < n_rows; ++r) rows[r] = {value(r), groups.data()[r], weights->data()[r]};
        return Cutter<WeightedRow>(std::move(rows), n_groups, Bits()).cuts();
    }
    std::vector<Row> rows(n_rows);
    for (size_t r = 0; r < n_rows; ++r) rows[r] = {value(r), groups.data()[r]};
    return Cutter<Row>(std::move(rows), n_groups, Bits(n_rows)).cuts();
}

}  // namespace

void bind_cuts(nb::module_& m) {
    m.def("cut_points", &cut_points, nb::arg("values").noconvert(), nb::arg("groups").noconvert(), nb::arg("n_groups"),
          nb::arg("weights").noconvert().none(), "cuts of a column without NaN that shorten the description of groups");
}

}  // namespace bayeswise::models
