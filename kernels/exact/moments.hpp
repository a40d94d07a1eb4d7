// Exact sums of w, w x and w x^2 by group and column.
#pragma once

#include "exact/rows.hpp"
#include "exact/table.hpp"

namespace bayeswise::exact {

struct Moments {
    Digits weight, total, squares;  // (n_groups, columns)
};

// A NaN is missing: its cell adds to none of the three sums. T is float or double.
template <class T>
Moments moments(const Matrix<T>& values, const Rows& rows);

// Sums of columns, NaN left out.
Digits accumulate(const Matrix<double>& values);

}  // namespace bayeswise::exact
