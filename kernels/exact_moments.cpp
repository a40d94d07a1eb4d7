#include "exact_moments.h"

#include <cmath>

namespace bayeswise {

template <class T>
Moments moments(const Matrix<T>& values, const Rows& rows) {
    const std::size_t entries = static_cast<std::size_t>(rows.n_groups * values.columns);
    ExactTable weight(entries), total(entries), squares(entries);
    for (std::int64_t row = 0; row < values.rows; ++row) {
        const std::int32_t group = rows.group(row);
        if (group < 0) continue;
        for (std::int64_t column = 0; column < values.columns; ++column) {
            const double x = values.row(row)[column], w = rows.weight(row);
            if (std::isnan(x)) continue;
            if (std::isinf(x)) throw InfiniteValue(row, column);
            const std::size_t entry = static_cast<std::size_t>(group * values.columns + column);
            weight.add(entry, w);
            total.add_product(entry, w, x);
            squares.add_product(entry, x, x, w);
        }
    }
    return {weight.take(), total.take(), squares.take()};
}

Digits accumulate(const Matrix<double>& values) {
    ExactTable total(static_cast<std::size_t>(values.columns));
    for (std::int64_t row = 0; row < values.rows; ++row)
        for (std::int64_t column = 0; column < values.columns; ++column) {
            const double x = values.row(row)[column];
            if (std::isinf(x)) throw InfiniteValue(row, column);
            if (!std::isnan(x)) total.add(static_cast<std::size_t>(column), x);
        }
    return total.take();
}

template Moments moments(const Matrix<float>&, const Rows&);
template Moments moments(const Matrix<double>&, const Rows&);

}  // namespace bayeswise
