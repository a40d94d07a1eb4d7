// The inner loops over a tile of rows, compiled for several processors.
//
// A column whose values stay below 2^e in magnitude is cut into slices on fixed grids: with unit = 2^(e - 22),
//     x = n_0 unit + n_1 unit 2^-23 + n_2 unit 2^-46 + ... + remainder,      n_s integer, |n_s| <= 2^22,
// because adding and taking away 1.5 * 2^52 grid units rounds to the grid, and what is rounded off is at most half a
// unit and itself a double. The product of two slices has at most 44 bits, so that doubles multiply it and add it up
// over a chain of rows without rounding; a chain begins at 1.5 * 2^52 units of its level, and as long as the sum stays
// within 2^51 units the bits of the double are those of 1.5 * 2^52 plus the sum as an integer.
#pragma once

#include <cstdint>

namespace bayeswise::exact {

constexpr int kFirstSliceBits = 22;  // the unit of the first slice is 2^(e - 22)
constexpr int kSliceBits = 23;       // from one slice to the next

// Values are cut into 3 slices, or 4 where many leave a remainder; the exact product w x into 3 more.
constexpr int kMaxSlices = 4;
constexpr int kMoreWeightedSlices = 3;
constexpr int kMaxWeightedSlices = kMaxSlices + kMoreWeightedSlices;

// At most 4 products of slices meet in one level, each of 2^44 units (2^45 if weighted, where a slice is the sum of
// two): a chain of 32 (16) rows stays within 2^51 units.
constexpr int kChainRows = 32;
constexpr int kWeightedChainRows = 16;

// A row adds at most 2^47 units: the integer sums of 2^15 rows stay within 2^62.
constexpr int kRowsBeforeFlush = 1 << 15;

// Every value that reaches a sweep is below 2^300 in magnitude and no grid is finer than that of 2^-249, every weight
// lies in [2^-96, 2^96): no unit of any level leaves the range of a double.
constexpr double kLargestValue = 0x1p300;
constexpr int kSmallestExponent = -250;
constexpr double kSmallestWeight = 0x1p-96;
constexpr double kLargestWeight = 0x1p96;

// A value below 2^-500 times a weight may not be exact as product and error. It is also smaller than all grids: a sweep
// adds nothing for it and flags it.
constexpr double kSmallestValue = 0x1p-500;

constexpr int kTileRows = 1024;  // the most a tile has
constexpr int kMostLanes = 8;    // of any processor

constexpr int padded(int columns) { return (columns + kMostLanes - 1) / kMostLanes * kMostLanes; }

constexpr double kGridCentre = 6755399441055744.0;  // 1.5 * 2^52 units

// 2^(-23 level), the unit of a level over the unit of the first.
constexpr double kLevelUnit[] = {1,        0x1p-23,  0x1p-46,  0x1p-69,  0x1p-92,
                                 0x1p-115, 0x1p-138, 0x1p-161, 0x1p-184, 0x1p-207};
static_assert(sizeof(kLevelUnit) / sizeof(double) >= kMaxWeightedSlices + kMaxSlices - 1);

// What the sweep leaves over of a value that is cut into slices first .. last - 1.
inline double remainder_of(double value, double unit, int first, int last) {
    for (int s = first; s < last; ++s) {
        const double centre = unit * (kGridCentre * kLevelUnit[s]);
        value -= (value + centre) - centre;
    }
    return value;
}

// Rows of one group: positions begin .. end - 1 of Tile::order.
struct Run {
    int32_t group, begin, end;

    int32_t size() const { return end - begin; }
};

struct Tile {
    const double* values;  // row r begins at values + r * stride
    int64_t stride;
    int rows, columns;
    int64_t next;           // the next tile's values begin at values + next; 0 if there is none
    const double* unit;     // (columns,), padded
    const double* weights;  // (rows,), or null
    double weight_unit;     // w x has the unit unit * weight_unit
    const int32_t* order;   // rows by group
    const Run* runs;
    int n_runs;
    int slices;  // 3 or 4
};

// A value that the sweep has not added completely.
struct Flagged {
    int32_t group, row, column;
};

// Levels of the integer sums: those of w x by slice, those of products by the sum of both slice numbers.
constexpr int total_levels(bool weighted) { return weighted ? kMaxWeightedSlices : kMaxSlices; }
constexpr int product_levels(bool weighted) { return total_levels(weighted) + kMaxSlices - 1; }

// Integer sums of totals by group, (n_groups, group_size): a group has one row of padded(columns) for each level.
// Sums of squares are further rows after the totals.
struct ColumnSums {
    int64_t* data;
    int64_t group_size;
};

// Integer sums of cross products by group, (n_groups, group_size): those of columns i >= j lie at
//     ((row_start[i] + j / lanes) * product_levels + level) * lanes + j % lanes.
struct CrossSums {
    int64_t* data;
    int64_t group_size;
    const int64_t* row_start;  // for columns, rounded up to kCrossRows
};

// Rows of the triangle that are worked on together: row_start makes room for all vectors up to the last of them.
constexpr int kCrossRows = 4;

// The slices of a tile, (padded(columns) / lanes, kTileRows, slices, lanes), rows in Tile::order.
struct Packed {
    double* left;   // of w x; without weights the same as right
    double* right;  // of x
};

// A value that must not reach a sweep: NaN, infinite or too large.
struct OddValue {
    int32_t row, column;
    double value;
};

struct Sweeps {
    int lanes;
    // Finds the largest magnitude of each column, NaN aside; the answer says whether there is a NaN or infinity.
    bool (*look)(const double* values, int64_t stride, int rows, int columns, double* largest);
    // Lists odd values row by row and puts zeros in their place, then does as look; the answer is their number.
    int (*clean)(double* values, int64_t stride, int rows, int columns, double* largest, OddValue* odd);
    // These answer with the number of values that were flagged.
    int (*moments)(const Tile& tile, const ColumnSums& sums, Flagged* flagged);
    int (*pack)(const Tile& tile, const Packed& packed, const ColumnSums& totals, Flagged* flagged);
    void (*multiply)(const Tile& tile, const Packed& packed, const CrossSums& sums);
};

extern const Sweeps avx512_sweeps, avx2_sweeps, plain_sweeps;

// The sweeps for the processor at hand.
const Sweeps& sweeps();

}  // namespace bayeswise::exact
