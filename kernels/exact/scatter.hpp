// Exact sums of w, w x_i and w x_i x_j by group, over rows without a missing value.
#pragma once

#include "exact/rows.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

struct Scatter {
    Digits weight;      // (n_groups,)
    Digits total;       // (n_groups, columns)
    Digits cross;       // (n_groups, columns * (columns + 1) / 2), the lower triangle i >= j row by row
    Digits incomplete;  // (n_groups,), the weight of rows left out because a value is missing
};

template <class T>
Scatter scatter(const Matrix<T>& values, const Rows& rows);

}  // namespace bayeswise::exact
