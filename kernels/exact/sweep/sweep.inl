// Included once for each kind of processor, after lanes.hpp.
#include <algorithm>

#include "common/cache.hpp"
#include "exact/sweep/sweep.hpp"

namespace bayeswise::exact {

namespace LANES_NAME {
namespace {

template <int N>
struct Levels {
    Real at[N];
};

// Doubles that begin at the centre of each level's grid.
template <int N>
SWEEP_INLINE Levels<N> centres(Real unit) {
    Levels<N> centre;
    for (int level = 0; level < N; ++level) centre.at[level] = unit * fill(kGridCentre * kLevelUnit[level]);
    return centre;
}

// Cuts value into multiples of each level's unit; remainders gets a bit if something is left over.
template <int First, int N>
SWEEP_INLINE Levels<N> cut(Real value, const Levels<N>& centre, Integer& remainders) {
    Levels<N> slice = {};
    for (int s = First; s < N; ++s) {
        slice.at[s] = (value + centre.at[s]) - centre.at[s];
        if (s + 1 < N) value = value - slice.at[s];
    }
    remainders = remainders | (bits(value) ^ bits(slice.at[N - 1]));
    return slice;
}

template <int N>
SWEEP_INLINE void add(Levels<N>& sum, const Levels<N>& slice, int first = 0) {
    for (int s = first; s < N; ++s) sum.at[s] = sum.at[s] + slice.at[s];
}

// The same, and adds the slices to their sums: what a sum takes up of a value is a multiple of its unit, and so a slice.
// Of the last level all but the nearest multiple is a remainder, which does not depend on the sum before.
template <int N>
SWEEP_INLINE Levels<N> cut_and_add(Real value, Levels<N>& sum, const Levels<N>& centre, Integer& remainders) {
    Levels<N> slice;
    for (int s = 0; s + 1 < N; ++s) {
        const Real with = sum.at[s] + value;
        slice.at[s] = with - sum.at[s];
        sum.at[s] = with;
        value = value - slice.at[s];
    }
    slice.at[N - 1] = (value + centre.at[N - 1]) - centre.at[N - 1];
    sum.at[N - 1] = sum.at[N - 1] + slice.at[N - 1];
    remainders = remainders | (bits(value) ^ bits(slice.at[N - 1]));
    return slice;
}

// The slices of w x, which is exactly a product and its error; the error is below 2^-53 of the product and has nothing
// in the first two slices.
template <int N>
SWEEP_INLINE Levels<N> cut_product(Real w, Real x, const Levels<N>& centre, Integer& remainders) {
    const Real product = w * x;
    Levels<N> slice = cut<0>(product, centre, remainders);
    add(slice, cut<2>(error_of_product(w, x, product), centre, remainders), 2);
    return slice;
}

template <int N>
SWEEP_INLINE void add_square(Levels<2 * N - 1>& sum, const Levels<N>& x) {
    for (int s = 0; s < N; ++s) {
        sum.at[2 * s] = multiply_add(x.at[s], x.at[s], sum.at[2 * s]);
        const Real twice = x.at[s] + x.at[s];
        for (int t = 0; t < s; ++t) sum.at[s + t] = multiply_add(twice, x.at[t], sum.at[s + t]);
    }
}

template <int L, int N>
SWEEP_INLINE void add_product(Levels<L + N - 1>& sum, const Levels<L>& u, const Levels<N>& x) {
    for (int s = 0; s < L; ++s)
        for (int t = 0; t < N; ++t) sum.at[s + t] = multiply_add(u.at[s], x.at[t], sum.at[s + t]);
}

// Adds a chain's sums, as integers, to the running ones.
template <int N>
SWEEP_INLINE void settle(int64_t* running, int step, const Levels<N>& sum, const Levels<N>& centre) {
    for (int level = 0; level < N; ++level) {
        int64_t* place = running + level * step;
        store(place, load(place) + (bits(sum.at[level]) - bits(centre.at[level])));
    }
}

template <bool Whole>
SWEEP_INLINE Real load_row(const Tile& tile, int row, int column) {
    const double* place = tile.values + row * tile.stride + column;
    expect(place + tile.next);
    return Whole ? load(place) : load_first(place, tile.columns - column);
}

// The moments of a chain of rows in one vector of columns; the answer says whether there are remainders.
template <int N, bool Whole>
SWEEP_INLINE bool add_chain(const Tile& tile, const Run& rows, int column, int64_t* sums) {
    const int step = padded(tile.columns);
    const Real unit = load(tile.unit + column);
    const Levels<N> total_centre = centres<N>(unit);
    const Levels<2 * N - 1> square_centre = centres<2 * N - 1>(unit * unit);
    Levels<N> total = total_centre;
    Levels<2 * N - 1> square = square_centre;
    Integer remainders = {};
    for (int k = rows.begin; k < rows.end; ++k) {
        const Real x = load_row<Whole>(tile, tile.order[k], column);
        add_square(square, cut_and_add(x, total, total_centre, remainders));
    }
    settle(sums + column, step, total, total_centre);
    settle(sums + total_levels(false) * step + column, step, square, square_centre);
    return any_nonzero(remainders);
}

template <int N, bool Whole>
SWEEP_INLINE bool add_weighted_chain(const Tile& tile, const Run& rows, int column, int64_t* sums) {
    constexpr int L = N + kMoreWeightedSlices;
    const int step = padded(tile.columns);
    const Real unit = load(tile.unit + column), weighted_unit = unit * fill(tile.weight_unit);
    const Levels<N> centre = centres<N>(unit);
    const Levels<L> total_centre = centres<L>(weighted_unit);
    const Levels<L + N - 1> square_centre = centres<L + N - 1>(weighted_unit * unit);
    Levels<L> total = total_centre;
    Levels<L + N - 1> square = square_centre;
    Integer remainders = {};
    for (int k = rows.begin; k < rows.end; ++k) {
        const Real x = load_row<Whole>(tile, tile.order[k], column), w = fill(tile.weights[tile.order[k]]);
        const Levels<L> slice = cut_product(w, x, total_centre, remainders);
        add(total, slice);
        add_product(square, slice, cut<0>(x, centre, remainders));
    }
    settle(sums + column, step, total, total_centre);
    settle(sums + total_levels(true) * step + column, step, square, square_centre);
    return any_nonzero(remainders);
}

// Writes down the values of a chain that have a remainder; the answer is their number.
template <int N, bool Weighted>
SWEEP int flag(const Tile& tile, const Run& rows, int column, Flagged* flagged) {
    constexpr int L = N + kMoreWeightedSlices;
    const int n = std::min(lanes, tile.columns - column);
    const Real unit = load(tile.unit + column);
    int n_flagged = 0;
    for (int k = rows.begin; k < rows.end; ++k) {
        const int row = tile.order[k];
        const Real x = load_first(tile.values + row * tile.stride + column, n);
        Integer remainders = {};
        cut<0>(x, centres<N>(unit), remainders);
        if constexpr (Weighted)
            cut_product(fill(tile.weights[row]), x, centres<L>(unit * fill(tile.weight_unit)), remainders);
        if (!any_nonzero(remainders)) continue;
        int64_t lane[lanes];
        store(lane, remainders);
        for (int j = 0; j < n; ++j)
            if (lane[j] & INT64_MAX) flagged[n_flagged++] = {rows.group, row, column + j};
    }
    return n_flagged;
}

template <int N, bool Weighted>
SWEEP int sweep_moments(const Tile& tile, const ColumnSums& all, Flagged* flagged) {
    constexpr int length = Weighted ? kWeightedChainRows : kChainRows;
    int n_flagged = 0;
    for (int r = 0; r < tile.n_runs; ++r) {
        const Run& run = tile.runs[r];
        int64_t* sums = all.data + run.group * all.group_size;
        for (int begin = run.begin; begin < run.end; begin += length) {
            const Run rows = {run.group, begin, std::min(begin + length, run.end)};
            for (int column = 0; column < tile.columns; column += lanes) {
                const bool whole = column + lanes <= tile.columns;
                bool remainders;
                if constexpr (Weighted)
                    remainders = whole ? add_weighted_chain<N, true>(tile, rows, column, sums)
                                       : add_weighted_chain<N, false>(tile, rows, column, sums);
                else
                    remainders = whole ? add_chain<N, true>(tile, rows, column, sums)
                                       : add_chain<N, false>(tile, rows, column, sums);
                if (remainders) n_flagged += flag<N, Weighted>(tile, rows, column, flagged + n_flagged);
            }
        }
    }
    return n_flagged;
}

SWEEP int moments(const Tile& tile, const ColumnSums& sums, Flagged* flagged) {
    const bool deep = tile.slices == kMaxSlices;
    if (tile.weights)
        return deep ? sweep_moments<4, true>(tile, sums, flagged) : sweep_moments<3, true>(tile, sums, flagged);
    return deep ? sweep_moments<4, false>(tile, sums, flagged) : sweep_moments<3, false>(tile, sums, flagged);
}

// Where the slices of a row and a vector of columns lie in the left or right half of Packed.
SWEEP_INLINE double* packed_place(double* packed, int column, int k, int slices) {
    return packed + (static_cast<int64_t>(column / lanes) * kTileRows + k) * slices * lanes;
}

template <int N>
SWEEP_INLINE void store(double* place, const Levels<N>& slice) {
    for (int s = 0; s < N; ++s) store(place + s * lanes, slice.at[s]);
}

// Cuts a chain of rows in one vector of columns and adds up their totals; the answer says whether there are remainders.
template <int N, bool Weighted>
SWEEP_INLINE bool pack_chain(const Tile& tile, const Run& rows, int column, const Packed& packed, int64_t* totals) {
    constexpr int L = Weighted ? N + kMoreWeightedSlices : N;
    const int n = std::max(0, std::min(lanes, tile.columns - column));
    const Real unit = load(tile.unit + column);
    const Levels<N> centre = centres<N>(unit);
    const Levels<L> total_centre = centres<L>(unit * fill(tile.weight_unit));
    Levels<L> total = total_centre;
    Integer remainders = {};
    for (int k = rows.begin; k < rows.end; ++k) {
        const int row = tile.order[k];
        const Real x = load_first(tile.values + row * tile.stride + column, n);
        const Levels<N> slice = cut<0>(x, centre, remainders);
        store(packed_place(packed.right, column, k, N), slice);
        if constexpr (Weighted) {
            const Levels<L> weighted_slice = cut_product(fill(tile.weights[row]), x, total_centre, remainders);
            store(packed_place(packed.left, column, k, L), weighted_slice);
            add(total, weighted_slice);
        } else {
            add(total, slice);
        }
    }
    settle(totals + column, padded(tile.columns), total, total_centre);
    return any_nonzero(remainders);
}

template <int N, bool Weighted>
SWEEP int pack_tile(const Tile& tile, const Packed& packed, const ColumnSums& totals, Flagged* flagged) {
    constexpr int length = Weighted ? kWeightedChainRows : kChainRows;
    int n_flagged = 0;
    for (int r = 0; r < tile.n_runs; ++r) {
        const Run& run = tile.runs[r];
        for (int begin = run.begin; begin < run.end; begin += length) {
            const Run rows = {run.group, begin, std::min(begin + length, run.end)};
            for (int column = 0; column < padded(tile.columns); column += lanes)
                if (pack_chain<N, Weighted>(tile, rows, column, packed, totals.data + run.group * totals.group_size))
                    n_flagged += flag<N, Weighted>(tile, rows, column, flagged + n_flagged);
        }
    }
    return n_flagged;
}

SWEEP int pack(const Tile& tile, const Packed& packed, const ColumnSums& totals, Flagged* flagged) {
    const bool deep = tile.slices == kMaxSlices;
    if (tile.weights)
        return deep ? pack_tile<4, true>(tile, packed, totals, flagged)
                    : pack_tile<3, true>(tile, packed, totals, flagged);
    return deep ? pack_tile<4, false>(tile, packed, totals, flagged)
                : pack_tile<3, false>(tile, packed, totals, flagged);
}

// How many rows of the triangle keep their sums in registers at once; they lie in one vector.
constexpr int rows_in_registers(int levels) {
    const int fitting = (lanes == 8 ? 20 : 10) / levels;
    return std::min(lanes, fitting >= kCrossRows ? kCrossRows : fitting >= 2 ? 2 : 1);
}

// Adds the products of columns i, i + 1, ... with the vector of columns at j, over a chain of rows.
template <int L, int N, bool Weighted>
SWEEP_INLINE void multiply_chain(const Tile& tile, const Run& rows, const Packed& packed, int i, int j,
                                 const CrossSums& sums) {
    constexpr int M = L + N - 1, I = rows_in_registers(M);
    const Real unit = load(tile.unit + j) * fill(tile.weight_unit);
    Levels<M> sum[I];
    for (int b = 0; b < I; ++b) sum[b] = centres<M>(unit * fill(tile.unit[i + b]));
    const double* left = packed_place(packed.left, i, rows.begin, L) + i % lanes;
    const double* right = packed_place(packed.right, j, rows.begin, N);
    for (int k = rows.begin; k < rows.end; ++k, left += L * lanes, right += N * lanes) {
        Levels<N> x;
        for (int t = 0; t < N; ++t) x.at[t] = load(right + t * lanes);
        for (int b = 0; b < I; ++b)
            for (int s = 0; s < L; ++s) {
                const Real u = fill(left[s * lanes + b]);
                for (int t = 0; t < N; ++t) sum[b].at[s + t] = multiply_add(u, x.at[t], sum[b].at[s + t]);
            }
    }
    for (int b = 0; b < I; ++b) {
        int64_t* place = sums.data + rows.group * sums.group_size +
                         (sums.row_start[i + b] + j / lanes) * product_levels(Weighted) * lanes;
        settle(place, lanes, sum[b], centres<M>(unit * fill(tile.unit[i + b])));
    }
}

template <int N, bool Weighted>
SWEEP void multiply_tile(const Tile& tile, const Packed& packed, const CrossSums& sums) {
    constexpr int L = Weighted ? N + kMoreWeightedSlices : N, I = rows_in_registers(L + N - 1);
    constexpr int length = Weighted ? kWeightedChainRows : kChainRows;
    for (int r = 0; r < tile.n_runs; ++r) {
        const Run& run = tile.runs[r];
        for (int begin = run.begin; begin < run.end; begin += length) {
            const Run rows = {run.group, begin, std::min(begin + length, run.end)};
            for (int i = 0; i < tile.columns; i += I)
                for (int j = 0; j < i + I; j += lanes) multiply_chain<L, N, Weighted>(tile, rows, packed, i, j, sums);
        }
    }
}

SWEEP void multiply(const Tile& tile, const Packed& packed, const CrossSums& sums) {
    const bool deep = tile.slices == kMaxSlices;
    if (tile.weights)
        deep ? multiply_tile<4, true>(tile, packed, sums) : multiply_tile<3, true>(tile, packed, sums);
    else
        deep ? multiply_tile<4, false>(tile, packed, sums) : multiply_tile<3, false>(tile, packed, sums);
}

// Looks at Vectors vectors of columns at once, so that each row's cache lines are read together.
template <int Vectors>
SWEEP_INLINE bool look_at(const double* values, int64_t stride, int rows, int columns, double* largest) {
    Levels<Vectors> largest_yet = {}, nothing = {};
    const Real zero = {};
    for (int row = 0; row < rows; ++row)
        for (int v = 0; v < Vectors; ++v) {
            const double* place = values + row * stride + v * lanes;
            const bool whole = v + 1 < Vectors || columns == Vectors * lanes;
            const Real x = magnitude(whole ? load(place) : load_first(place, columns - v * lanes));
            largest_yet.at[v] = x > largest_yet.at[v] ? x : largest_yet.at[v];
            nothing.at[v] = multiply_add(x, zero, nothing.at[v]);  // NaN once x is infinite or NaN
        }
    Integer any = {};
    for (int v = 0; v < Vectors; ++v) {
        store(largest + v * lanes, largest_yet.at[v]);
        any = any | bits(nothing.at[v]);
    }
    return any_nonzero(any);
}

SWEEP bool look(const double* values, int64_t stride, int rows, int columns, double* largest) {
    bool not_finite = false;
    for (; columns > 0; values += 4 * lanes, largest += 4 * lanes, columns -= 4 * lanes) {
        switch ((columns + lanes - 1) / lanes) {
            case 1: not_finite |= look_at<1>(values, stride, rows, columns, largest); break;
            case 2: not_finite |= look_at<2>(values, stride, rows, columns, largest); break;
            case 3: not_finite |= look_at<3>(values, stride, rows, columns, largest); break;
            default: not_finite |= look_at<4>(values, stride, rows, std::min(columns, 4 * lanes), largest);
        }
    }
    return not_finite;
}

SWEEP int clean(double* values, int64_t stride, int rows, int columns, double* largest, OddValue* odd) {
    const Real zero = {}, high = fill(kLargestValue);
    int n_odd = 0;
    std::fill_n(largest, padded(columns), 0.0);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; column += lanes) {
            double* place = values + row * stride + column;
            const int n = std::min(lanes, columns - column);
            const Real size = magnitude(load_first(place, n)), kept = size < high ? size : zero;
            for (unsigned odd_lanes = lanes_that_differ(size, kept); odd_lanes != 0; odd_lanes &= odd_lanes - 1) {
                const int j = first_lane(odd_lanes);
                odd[n_odd++] = {row, column + j, place[j]};
                place[j] = 0;
            }
            const Real largest_yet = load(largest + column);
            store(largest + column, kept > largest_yet ? kept : largest_yet);
        }
    return n_odd;
}

}  // namespace
}  // namespace LANES_NAME

}  // namespace bayeswise::exact
