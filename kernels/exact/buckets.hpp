// How many cells of each column lie in each bucket of the real line: eight to every power of two, on either side of 0.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/rows.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

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
