#include "exact_scatter.h"

#include <cmath>

namespace bayeswise {

template <class T>
Scatter scatter(const Matrix<T>& values, const Rows& rows) {
    const std::int64_t columns = values.columns, pairs = columns * (columns + 1) / 2;
    const std::size_t groups = static_cast<std::size_t>(rows.n_groups);
    ExactTable weight(groups), total(groups * columns), cross(groups * pairs), incomplete(groups);
    for (std::int64_t row = 0; row < values.rows; ++row) {
        const std::int32_t group = rows.group(row);
        if (group < 0) continue;
        const Vector<T> x = values.row(row);
        const double w = rows.weight(row);
        bool complete = true;
        for (std::int64_t i = 0; i < columns; ++i) {
            if (std::isinf(x[i])) throw InfiniteValue(row, i);
            complete = complete && !std::isnan(x[i]);
        }
        (complete ? weight : incomplete).add(group, w);
        if (!complete) continue;
        std::size_t pair = group * pairs;
        for (std::int64_t i = 0; i < columns; ++i) {
            total.add_product(group * columns + i, x[i], w);
            for (std::int64_t j = 0; j <= i; ++j) cross.add_product(pair++, x[i], x[j], w);
        }
    }
    return {weight.take(), total.take(), cross.take(), incomplete.take()};
}

template Scatter scatter(const Matrix<float>&, const Rows&);
template Scatter scatter(const Matrix<double>&, const Rows&);

}  // namespace bayeswise
