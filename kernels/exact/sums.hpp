// What one sweep over rows adds up: counts of codes, moments of columns, their products, cells by bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/rows.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

// -- counts.cpp: How often each code occurs, by group and column, and how often each combination of codes occurs.

// Where column c keeps its counts: sizes[c] slots from first_slot[c], then one for missing.
struct CountLayout {
    explicit CountLayout(std::vector<int64_t> sizes);

    std::vector<int64_t> sizes;
    std::vector<int64_t> first_slot;
    int64_t slots = 0;
};

// Tables of shape (n_groups, layout.slots). Code -1 is missing.
template <class Code>
std::vector<int64_t> counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows);
template <class Code>
Digits weighted_counts(const Matrix<Code>& codes, const CountLayout& layout, const Rows& rows);

// table has one cell for each combination of codes, in C order; rows with a missing code are left out of it.
struct JointCounts {
    std::vector<int64_t> table;
    int64_t incomplete = 0;
};

struct WeightedJointCounts {
    Digits table, incomplete;
};

template <class Code>
JointCounts joint_counts(const Matrix<Code>& codes, const std::vector<int64_t>& sizes, const Rows& rows);
template <class Code>
WeightedJointCounts weighted_joint_counts(const Matrix<Code>& codes, const std::vector<int64_t>& sizes,
                                          const Rows& rows);

// -- moments.cpp: Exact sums of w, w x and w x^2 by group and column.

struct Moments {
    Digits weight, total, squares;  // (n_groups, columns)
};

// A NaN is missing: its cell adds to none of the three sums. T is float or double.
template <class T>
Moments moments(const Matrix<T>& values, const Rows& rows);

// Sums of columns, NaN left out.
Digits accumulate(const Matrix<double>& values);

// -- scatter.cpp: Exact sums of w, w x_i and w x_i x_j by group, over rows without a missing value.

struct Scatter {
    Digits weight;      // (n_groups,)
    Digits total;       // (n_groups, columns)
    Digits cross;       // (n_groups, columns * (columns + 1) / 2), the lower triangle i >= j row by row
    Digits incomplete;  // (n_groups,), the weight of rows left out because a value is missing
};

template <class T>
Scatter scatter(const Matrix<T>& values, const Rows& rows);

// -- buckets.cpp: How many cells of each column lie in each bucket of the real line: eight to every power of two, on either side of 0.

// The buckets that have cells, by column and from the lowest number to the highest. A key is column * kBucketsOfColumn +
// kBucketOfZero + bucket; bucket b > 0 has the numbers whose sign, exponent and first three bits of mantissa are those
// of b, -b their negatives, and 0 what is smaller than any of them.
struct Buckets {
    std::vector<int32_t> keys;
    std::vector<int64_t> counts;  // without weights
    Digits weights;               // with weights
};

inline constexpr int32_t kBucketsOfColumn = 1 << 15, kBucketOfZero = 1 << 14;
inline constexpr int64_t kMostBucketColumns = 1 << 16;

// NaN and infinity are in no bucket, rows without a group neither. T is float or double.
template <class T>
Buckets buckets(const Matrix<T>& values, const Rows& rows);

}  // namespace bayeswise::exact
