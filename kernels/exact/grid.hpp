// On which grid the slices of each column lie, and which values are left to the exact tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exact/sweep/sweep.hpp"

namespace bayeswise::exact {

// NaN, infinite or too large for a sweep.
inline bool is_odd(double x) { return !(std::abs(x) < kLargestValue); }

inline bool is_odd_weight(double w) { return !(w >= kSmallestWeight && w < kLargestWeight); }

// The grid for magnitudes below 2^exponent. It has a bit to spare when it is chosen, and serves until that is used up
// or the magnitudes have become much smaller.
class Grid {
public:
    bool serves(double largest) const {
        if (largest == 0) return true;
        const int needed = exponent_above(largest);
        return needed <= exponent_ && needed >= exponent_ - 3;
    }

    void choose(double largest) { exponent_ = exponent_above(largest) + 1; }

    bool chosen() const { return exponent_ != none; }
    int exponent() const { return exponent_; }

private:
    static constexpr int none = std::numeric_limits<int>::min() / 2;

    // The least exponent with magnitude < 2^exponent, but no finer grid than the finest.
    static int exponent_above(double magnitude) {
        int exponent;
        std::frexp(magnitude, &exponent);
        return std::max(exponent, kSmallestExponent);
    }

    int exponent_ = none;
};

class Grids {
public:
    explicit Grids(int columns)
        : unit(static_cast<std::size_t>(padded(columns)), 1.0), columns_(static_cast<std::size_t>(columns)) {}

    // Puts each column on a grid for these magnitudes; calls leave(column) before its grid changes.
    template <class Leave>
    void fit_columns(const double* largest, Leave leave) {
        for (int c = 0; c < static_cast<int>(columns_.size()); ++c) {
            if (columns_[c].serves(largest[c])) continue;
            if (columns_[c].chosen()) leave(c);
            columns_[c].choose(largest[c]);
            unit[c] = std::ldexp(1.0, unit_exponent(c));
        }
    }

    template <class Leave>
    void fit_weights(double largest, Leave leave) {
        if (weights_.serves(largest)) return;
        if (weights_.chosen()) leave();
        weights_.choose(largest);
        weight_unit = std::ldexp(1.0, weights_.exponent());
    }

    // The exponents of the first units of x and of w x; without weights, they are the same.
    int unit_exponent(int column) const { return columns_[column].exponent() - kFirstSliceBits; }
    int weighted_unit_exponent(int column) const {
        return unit_exponent(column) + (weights_.chosen() ? weights_.exponent() : 0);
    }

    bool chosen(int column) const { return columns_[column].chosen(); }

    std::vector<double> unit;  // padded with ones
    double weight_unit = 1;

private:
    std::vector<Grid> columns_;
    Grid weights_;
};

// Values of very different sizes leave many remainders; a fourth slice is cheaper than those, for a while.
class Depth {
public:
    int slices() const { return deep_tiles_ > 0 ? kMaxSlices : kMaxSlices - 1; }

    void learn(int n_flagged, int n_values) { deep_tiles_ = n_flagged > n_values / 128 ? 32 : deep_tiles_ - 1; }

private:
    int deep_tiles_ = 0;
};

}  // namespace bayeswise::exact
