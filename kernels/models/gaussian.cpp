// Squared Mahalanobis distances and linear scores of rows, for Gaussian classes with correlated columns.
//
// Rows are taken in tiles of 32 and turned, so that a register holds one column of several rows; whitening is then a
// product of a triangular matrix with the tile, a block of four of its rows after the other. A row meets the same operations in the same
// order in any tile, so it gets the same bits alone and in a batch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/aligned.hpp"
#include "common/registers.hpp"
#include "common/require.hpp"
#include "common/turning.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

constexpr int64_t kTileRows = 32;
constexpr int64_t kBlock = 4;  // rows of the whitener whose squares are added first

using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Constants = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// Blocks of four rows of a packed lower triangle, column by column: the order in which the product reads them.
std::vector<double> in_blocks(const double* packed, int64_t n_columns) {
    std::vector<double> blocks;
    for (int64_t first = 0; first < n_columns; first += kBlock)
        for (int64_t i = 0; i < first + kBlock; ++i)
            for (int64_t j = first; j < first + kBlock; ++j)
                blocks.push_back(j < n_columns && i <= j ? packed[j * (j + 1) / 2 + i] : 0.0);
    return blocks;
}

// The functions below go through a tile by slices of a few registers of rows, and leave out slices behind the last row.
template <int W>
constexpr int64_t kLanes = Register<double, W>::lanes;

// The same place in memory, which the compiler takes for another. AVX-512 multiplies by a number in memory at no extra
// cost, but the compiler would spread one that products share over a register, which takes the time of an addition on
// some processors.
template <int W>
BAYESWISE_INLINE const double* again(const double* place) {
#if BAYESWISE_COPIES
    if constexpr (W == kAvx512Bytes) asm("" : "+r"(place));
#endif
    return place;
}

// sum over j of (sum over i <= j of W_ji u_i)^2, for the rows of a tile; without W, the sum of u_i^2. `kDown` rows of the
// whitener by `kAcross` registers of rows are summed at a time, about as many as there are registers: whatever is read
// takes part in several products, which then take longer than reading it.
template <int W, int kDown, int kAcross>
BAYESWISE_INLINE void whitened_squares(double* __restrict squares, double* __restrict scores,
                                       const double* __restrict columns, const double* __restrict blocks,
                                       const double* mean, const double* mean_low, const double* inverse,
                                       int64_t n_columns, int64_t n_rows, bool diagonal) {
    using Rows = typename Register<double, W>::type;
    for (int64_t c = 0; c < n_columns; ++c) {
        const double centre = mean[c], low = mean_low[c], by = inverse[c];
        const double* x = columns + kTileRows * c;
        double* u = scores + kTileRows * c;
        for (int64_t r = 0; r < kTileRows; r += kLanes<W>)
            store<double, W>(u + r, by * ((load<double, W>(x + r) - centre) - low));
    }
    for (int64_t slice = 0; slice < n_rows; slice += kAcross * kLanes<W>) {
        Rows total[kAcross] = {};
        const double* u = scores + slice;
        for (int64_t c = 0; c < n_columns && diagonal; ++c, u += kTileRows)
            for (int k = 0; k < kAcross; ++k) {
                const Rows x = load<double, W>(u + k * kLanes<W>);
                total[k] = total[k] + x * x;
            }
        const double* block = blocks;
        for (int64_t first = 0; first < n_columns && !diagonal; first += kBlock) {
            Rows of_block[kAcross] = {};
            for (int64_t down = 0; down < kBlock; down += kDown) {
                Rows sums[kDown][kAcross] = {};
                const double* w = block + down;
                u = scores + slice;
                for (int64_t i = 0; i < first + kBlock; ++i, w += kBlock, u += kTileRows) {
                    for (int k = 0; k < kAcross; ++k) {
                        const Rows x = load<double, W>(u + k * kLanes<W>);
                        const double* v = again<W>(w);
                        for (int j = 0; j < kDown; ++j) sums[j][k] = sums[j][k] + v[j] * x;
                    }
                }
                for (int j = 0; j < kDown; j += 2)
                    for (int k = 0; k < kAcross; ++k)
                        of_block[k] = of_block[k] + (sums[j][k] * sums[j][k] + sums[j + 1][k] * sums[j + 1][k]);
            }
            for (int k = 0; k < kAcross; ++k) total[k] = total[k] + of_block[k];
            block += (first + kBlock) * kBlock;
        }
        for (int k = 0; k < kAcross; ++k) store<double, W>(squares + slice + k * kLanes<W>, total[k]);
    }
}
constexpr auto squares_of_tile = on_isa<whitened_squares<kPlainBytes, 2, 4>, whitened_squares<kAvx2Bytes, 4, 2>,
                                        whitened_squares<kAvx512Bytes, 4, 4>>;
// Of a tile that is not filled by half: slices of AVX-512 are half as long.
constexpr auto squares_of_few = on_isa<whitened_squares<kPlainBytes, 2, 4>, whitened_squares<kAvx2Bytes, 4, 2>,
                                       whitened_squares<kAvx512Bytes, 4, 2>>;

template <int W>
BAYESWISE_INLINE void weighted_sums(double* __restrict sums, const double* __restrict scores, const double* weight,
                                    double constant, int64_t n_columns, int64_t n_rows) {
    using Rows = typename Register<double, W>::type;
    for (int64_t slice = 0; slice < n_rows; slice += 2 * kLanes<W>) {
        const double* u = scores + slice;
        Rows sum0 = {}, sum1 = {};
        for (int64_t c = 0; c < n_columns; ++c, u += kTileRows) {
            sum0 = sum0 + weight[c] * load<double, W>(u);
            sum1 = sum1 + weight[c] * load<double, W>(u + kLanes<W>);
        }
        store<double, W>(sums + slice, sum0 + constant);
        store<double, W>(sums + slice + kLanes<W>, sum1 + constant);
    }
}

BAYESWISE_INLINE void centred(double* __restrict scores, const double* __restrict columns, const double* centre,
                              const double* centre_low, int64_t n_columns) {
    for (int64_t c = 0; c < n_columns; ++c)
        for (int64_t r = 0; r < kTileRows; ++r)
            scores[kTileRows * c + r] = (columns[kTileRows * c + r] - centre[c]) - centre_low[c];
}

// The rows of a tile, turned: column c of row r stands at columns[32 c + r]; rows beyond the last are copies of it.
template <typename T>
void turn(const Cells<T>& values, int64_t first, int64_t n_rows, double* columns) {
    const int64_t n_columns = values.shape(1), row_step = values.stride(0);
    const T* from = values.data() + first * row_step;
    turn_rows<T>(columns, from, row_step, values.stride(1), n_rows, n_columns, kTileRows);
    for (int64_t c = 0; c < n_columns && n_rows < kTileRows; ++c)
        std::fill(columns + c * kTileRows + n_rows, columns + (c + 1) * kTileRows, columns[c * kTileRows + n_rows - 1]);
}

// A turned tile, with columns of zeros up to a whole number of blocks.
AlignedVector<double> tile(int64_t n_columns) {
    return AlignedVector<double>(kTileRows * ((n_columns + kBlock - 1) / kBlock * kBlock));
}

template <typename T>
void squared_distances(Out out, Cells<T> values, Constants mean, Constants mean_low, Constants inverse_scale,
                       Constants whiteners) {
    const int64_t n_rows = values.shape(0), n_columns = values.shape(1), n_states = mean.shape(0);
    for (const Constants& each : {mean, mean_low, inverse_scale})
        require(static_cast<int64_t>(each.shape(0)) == n_states && static_cast<int64_t>(each.shape(1)) == n_columns,
                "parameters and values differ in shape");
    const int64_t width = whiteners.shape(1), full = n_columns * (n_columns + 1) / 2;
    require(static_cast<int64_t>(whiteners.shape(0)) == n_states && (width == full || width == 0),
            "the whiteners are not packed triangles");
    require(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int64_t>(out.shape(1)) == n_states,
            "the distances have another shape");
    const bool diagonal = width == 0;
    nb::gil_scoped_release release;
    std::vector<std::vector<double>> blocks(n_states);
    for (int64_t k = 0; k < n_states && !diagonal; ++k) blocks[k] = in_blocks(whiteners.data() + k * full, n_columns);
    AlignedVector<double> columns = tile(n_columns), scores = tile(n_columns);
    double squares[kTileRows];
    for (int64_t first = 0; first < n_rows; first += kTileRows) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        turn(values, first, here, columns.data());
        for (int64_t k = 0; k < n_states; ++k) {
            const int64_t at = k * n_columns;
            const auto sum_by = [&](const auto& sum) {
                sum(squares, scores.data(), columns.data(), blocks[k].data(), mean.data() + at, mean_low.data() + at,
                    inverse_scale.data() + at, n_columns, here, diagonal);
            };
            here > kTileRows / 2 ? sum_by(squares_of_tile) : sum_by(squares_of_few);
            for (int64_t r = 0; r < here; ++r) out.data()[(first + r) * n_states + k] = squares[r];
        }
    }
}

template <typename T>
void linear_scores(Out out, Cells<T> values, Constants centre, Constants weights, Constants constants) {
    const int64_t n_rows = values.shape(0), n_columns = values.shape(1), n_states = weights.shape(0);
    require(static_cast<int64_t>(weights.shape(1)) == n_columns, "weights and values differ in columns");
    require(centre.shape(0) == 2 && static_cast<int64_t>(centre.shape(1)) == n_columns,
            "the centre is not a pair of rows");
    require(constants.shape(0) == 1 && static_cast<int64_t>(constants.shape(1)) == n_states,
            "constants and weights differ in states");
    require(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int64_t>(out.shape(1)) == n_states,
            "the scores have another shape");
    nb::gil_scoped_release release;
    AlignedVector<double> columns = tile(n_columns), scores = tile(n_columns);
    double sums[kTileRows];
    for (int64_t first = 0; first < n_rows; first += kTileRows) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        turn(values, first, here, columns.data());
        on_isa<centred>(scores.data(), columns.data(), centre.data(), centre.data() + n_columns, n_columns);
        for (int64_t k = 0; k < n_states; ++k) {
            on_isa<weighted_sums<kPlainBytes>, weighted_sums<kAvx2Bytes>, weighted_sums<kAvx512Bytes>>(
                sums, scores.data(), weights.data() + k * n_columns, constants.data()[k], n_columns, here);
            for (int64_t r = 0; r < here; ++r) out.data()[(first + r) * n_states + k] = sums[r];
        }
    }
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("squared_distances", &squared_distances<T>, nb::arg("out").noconvert(), nb::arg("values").noconvert(),
          nb::arg("mean"), nb::arg("mean_low"), nb::arg("inverse_scale"), nb::arg("whiteners"),
          "out[r, k] = |W_k ((x_r - mean_k - mean_low_k) inverse_scale_k)|^2; W packed lower triangles, or none");
    m.def("linear_scores", &linear_scores<T>, nb::arg("out").noconvert(), nb::arg("values").noconvert(),
          nb::arg("centre"), nb::arg("weights"), nb::arg("constants"),
          "out[r, k] = constants_k + weights_k . (x_r - centre_0 - centre_1)");
}

}  // namespace

void bind_gaussian(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
}

}  // namespace bayeswise::models
