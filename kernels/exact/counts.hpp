// How often each code occurs, by group and column, and how often each combination of codes occurs.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/rows.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

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

}  // namespace bayeswise::exact
