// The solution of a small positive definite system by Cholesky's factor: as many calls of LAPACK would take longer than
// what they compute, and its rounding depends on the processor.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// rows[i] -= rows[k][i] rows[k] for all rows i below k, right of the diagonal.
BAYESWISE_INLINE void eliminate(double* __restrict rows, int64_t k, int64_t n) {
    const double* above = rows + k * n;
    for (int64_t i = k + 1; i < n; ++i) {
        double* row = rows + i * n;
        const double by = above[i];
        for (int64_t j = i; j < n; ++j) row[j] -= by * above[j];
    }
}

// U with U'U = A in the place of the upper triangle of A; its least pivot, or 0 where A is not positive definite.
double factor(double* rows, int64_t n) {
    double least = std::sqrt(rows[0]);
    for (int64_t k = 0; k < n; ++k) {
        double* row = rows + k * n;
        if (!(row[k] > 0.0)) return 0.0;
        const double pivot = std::sqrt(row[k]);
        least = std::min(least, pivot);
        for (int64_t j = k; j < n; ++j) row[j] /= pivot;
        on_isa<eliminate>(rows, k, n);
    }
    return least;
}

// Columns and rows in units under which the diagonal is 1; where it is not above 0, as they are.
double solve_positive(Matrix matrix, Vector right, OutVector solution) {
    const int64_t n = static_cast<int64_t>(matrix.shape(0));
    require(static_cast<int64_t>(matrix.shape(1)) == n && static_cast<int64_t>(right.shape(0)) == n &&
                static_cast<int64_t>(solution.shape(0)) == n,
            "matrix, right-hand side and solution differ in size");
    if (n == 0) return 1.0;
    nb::gil_scoped_release release;
    std::vector<double> rows(n * n), unit(n);
    for (int64_t k = 0; k < n; ++k) {
        const double entry = matrix.data()[k * n + k];
        unit[k] = entry > 0.0 ? std::sqrt(entry) : 1.0;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j) rows[i * n + j] = matrix.data()[i * n + j] / (unit[i] * unit[j]);
    const double least = factor(rows.data(), n);
    if (!(least > 0.0)) return 0.0;
    double* x = solution.data();
    for (int64_t k = 0; k < n; ++k) x[k] = right.data()[k] / unit[k];
    for (int64_t k = 0; k < n; ++k) {  // U'y = right
        x[k] /= rows[k * n + k];
        for (int64_t j = k + 1; j < n; ++j) x[j] -= rows[k * n + j] * x[k];
    }
    for (int64_t k = n - 1; k >= 0; --k) {  // U x = y
        double sum = x[k];
        for (int64_t j = k + 1; j < n; ++j) sum -= rows[k * n + j] * x[j];
        x[k] = sum / rows[k * n + k];
    }
    for (int64_t k = 0; k < n; ++k) x[k] /= unit[k];
    return least;
}

}  // namespace

void bind_positive_systems(nb::module_& m) {
    m.def(
        "solve_positive", &solve_positive, nb::arg("matrix").noconvert(), nb::arg("right"),
        nb::arg("solution").noconvert(),
        "The solution of a positive definite system; the least pivot of its factor in units of a diagonal of 1, or 0");
}

}  // namespace bayeswise::models
