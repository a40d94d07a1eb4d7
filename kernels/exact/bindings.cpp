// Python bindings of the exact kernels: they check shapes, release the GIL and hand digits over without a copy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "common/require.hpp"
#include "exact/rows.hpp"
#include "exact/sums.hpp"
#include "exact/table.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::exact {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Groups = std::optional<nb::ndarray<const int32_t, nb::ndim<1>, nb::device::cpu>>;
using Weights = std::optional<nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>>;
using Sizes = nb::ndarray<const int64_t, nb::ndim<1>, nb::device::cpu>;

template <class Array>
bool holds(const Array& array, nb::dlpack::dtype expected) {
    return array.dtype() == expected;
}

template <class T>
Matrix<T> view(const AnyMatrix& array) {
    const int64_t size = sizeof(T);
    return {static_cast<const char*>(array.data()), static_cast<int64_t>(array.shape(0)),
            static_cast<int64_t>(array.shape(1)), array.stride(0) * size, array.stride(1) * size};
}

template <class T, class Array>
Vector<T> view_rows(const std::optional<Array>& array, std::size_t n_rows, const char* name) {
    if (!array) return {};
    if (array->shape(0) != n_rows)
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(array->shape(0)) + " entries for " +
                                    std::to_string(n_rows) + " rows");
    return {reinterpret_cast<const char*>(array->data()), array->stride(0) * static_cast<int64_t>(sizeof(T))};
}

Rows view_rows(const AnyMatrix& table, const Groups& groups, int64_t n_groups, const Weights& weights) {
    require(n_groups >= 0, "n_groups is negative");
    return {view_rows<int32_t>(groups, table.shape(0), "groups"), view_rows<double>(weights, table.shape(0), "weights"),
            n_groups};
}

std::vector<int64_t> copy_sizes(const Sizes& sizes, const AnyMatrix& codes) {
    if (sizes.shape(0) != codes.shape(1))
        throw std::invalid_argument("sizes has " + std::to_string(sizes.shape(0)) + " entries for " +
                                    std::to_string(codes.shape(1)) + " columns");
    std::vector<int64_t> copy(sizes.shape(0));
    for (std::size_t c = 0; c < copy.size(); ++c) copy[c] = sizes(c);
    return copy;
}

// Calls work(Matrix<T>) for the element type of the array, without the GIL.
template <class T, class... Others, class Work>
auto without_gil(const AnyMatrix& array, const char* expected, Work work) {
    if constexpr (sizeof...(Others) > 0) {
        if (!holds(array, nb::dtype<T>())) return without_gil<Others...>(array, expected, work);
    }
    if (!holds(array, nb::dtype<T>())) throw nb::type_error(expected);
    const nb::gil_scoped_release release;
    return work(view<T>(array));
}

using Shape = std::vector<std::size_t>;

template <class T>
nb::object to_numpy(std::vector<T>&& data, const Shape& shape) {
    auto* owned = new std::vector<T>(std::move(data));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

nb::tuple to_numpy(Digits&& exact, Shape shape) {
    trim(exact);
    shape.push_back(static_cast<std::size_t>(exact.limbs));
    return nb::make_tuple(to_numpy(std::move(exact.digits), shape), exact.low);
}

constexpr const char* wants_floats = "values must be float64 or float32";
constexpr const char* wants_codes = "codes must be int8, uint8, int16, int32 or int64";

nb::tuple moments_of(const AnyMatrix& values, const Groups& groups, int64_t n_groups, const Weights& weights) {
    const Rows rows = view_rows(values, groups, n_groups, weights);
    Moments sums =
        without_gil<double, float>(values, wants_floats, [&](const auto& matrix) { return moments(matrix, rows); });
    const std::size_t k = static_cast<std::size_t>(n_groups), d = values.shape(1);
    return nb::make_tuple(to_numpy(std::move(sums.weight), {k, d}), to_numpy(std::move(sums.total), {k, d}),
                          to_numpy(std::move(sums.squares), {k, d}));
}

nb::tuple buckets_of(const AnyMatrix& values, const Groups& groups, int64_t n_groups, const Weights& weights) {
    const Rows rows = view_rows(values, groups, n_groups, weights);
    require(static_cast<int64_t>(values.shape(1)) <= kMostBucketColumns, "values has too many columns for buckets");
    Buckets found =
        without_gil<double, float>(values, wants_floats, [&](const auto& matrix) { return buckets(matrix, rows); });
    const std::size_t n = found.keys.size();
    nb::object counts =
        weights ? nb::object(to_numpy(std::move(found.weights), {n})) : to_numpy(std::move(found.counts), Shape{n});
    return nb::make_tuple(to_numpy(std::move(found.keys), Shape{n}), counts);
}

nb::tuple scatter_of(const AnyMatrix& values, const Groups& groups, int64_t n_groups, const Weights& weights) {
    const Rows rows = view_rows(values, groups, n_groups, weights);
    Scatter sums =
        without_gil<double, float>(values, wants_floats, [&](const auto& matrix) { return scatter(matrix, rows); });
    const std::size_t k = static_cast<std::size_t>(n_groups), d = values.shape(1);
    return nb::make_tuple(to_numpy(std::move(sums.weight), {k}), to_numpy(std::move(sums.total), {k, d}),
                          to_numpy(std::move(sums.cross), {k, d * (d + 1) / 2}),
                          to_numpy(std::move(sums.incomplete), {k}));
}

template <class Work>
auto with_codes(const AnyMatrix& codes, Work work) {
    return without_gil<int64_t, int32_t, int16_t, int8_t, uint8_t>(codes, wants_codes, work);
}

nb::object counts_of(const AnyMatrix& codes, const Sizes& sizes, const Groups& groups, int64_t n_groups,
                     const Weights& weights) {
    const Rows rows = view_rows(codes, groups, n_groups, weights);
    const CountLayout layout(copy_sizes(sizes, codes));
    const std::size_t k = static_cast<std::size_t>(n_groups), slots = static_cast<std::size_t>(layout.slots);
    if (weights)
        return to_numpy(with_codes(codes, [&](const auto& m) { return weighted_counts(m, layout, rows); }), {k, slots});
    return to_numpy(with_codes(codes, [&](const auto& m) { return counts(m, layout, rows); }), Shape{k, slots});
}

nb::tuple joint_counts_of(const AnyMatrix& codes, const Sizes& sizes, const Weights& weights) {
    const Rows rows = view_rows(codes, Groups{}, 1, weights);
    const std::vector<int64_t> shape = CountLayout(copy_sizes(sizes, codes)).sizes;
    if (weights) {
        auto sums = with_codes(codes, [&](const auto& m) { return weighted_joint_counts(m, shape, rows); });
        const std::size_t cells = sums.table.digits.size() / static_cast<std::size_t>(sums.table.limbs);
        return nb::make_tuple(to_numpy(std::move(sums.table), {cells}), to_numpy(std::move(sums.incomplete), Shape{}));
    }
    auto sums = with_codes(codes, [&](const auto& m) { return joint_counts(m, shape, rows); });
    const std::size_t cells = sums.table.size();
    return nb::make_tuple(to_numpy(std::move(sums.table), {cells}), sums.incomplete);
}

nb::tuple canonical_of(const nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& limbs, int low) {
    Digits exact;
    {
        const nb::gil_scoped_release release;
        exact = carried(limbs.data(), limbs.shape(0), limbs.shape(1), low);
    }
    return to_numpy(std::move(exact), {limbs.shape(0)});
}

nb::tuple accumulate_of(const AnyMatrix& values) {
    Digits sums = without_gil<double>(values, "values must be float64", [](const auto& m) { return accumulate(m); });
    return to_numpy(std::move(sums), {values.shape(1)});
}

using LimbMatrix = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple add_exact(const LimbMatrix& left, int left_low, const LimbMatrix& right, int right_low, bool subtract) {
    require(left.shape(0) == right.shape(0), "the sums differ in number");
    const auto view = [](const LimbMatrix& of, int low) {
        return DigitsView{of.data(), low, static_cast<int>(of.shape(1))};
    };
    const std::size_t entries = left.shape(0);
    return to_numpy(added(view(left, left_low), view(right, right_low), entries, subtract ? -1 : 1), {entries});
}

// The same scalar function for each element, so that the answer never depends on the layout of the array.
nb::object elementwise(const AnyArray& values, double (*function)(double)) {
    if (!holds(values, nb::dtype<double>())) throw nb::type_error("values must be float64");
    const std::size_t n_axes = values.ndim();
    Shape shape(n_axes), index(n_axes);
    for (std::size_t axis = 0; axis < n_axes; ++axis) shape[axis] = values.shape(axis);
    std::vector<double> result(values.size());
    {
        const nb::gil_scoped_release release;
        const char* element = static_cast<const char*>(values.data());
        for (double& out : result) {
            out = function(Vector<double>{element, 0}[0]);
            for (std::size_t axis = n_axes; axis-- > 0;) {
                const int64_t step = values.stride(axis) * static_cast<int64_t>(sizeof(double));
                element += step;
                if (++index[axis] < shape[axis]) break;
                element -= step * static_cast<int64_t>(shape[axis]);
                index[axis] = 0;
            }
        }
    }
    return to_numpy(std::move(result), shape);
}

}  // namespace

void bind_exact(nb::module_& m) {
    nb::exception<InfiniteValue>(m, "InfiniteValueError", PyExc_ValueError);
    nb::exception<CodeOutOfRange>(m, "CodeError", PyExc_ValueError);
    m.def("moments", &moments_of, "values"_a.noconvert(), "groups"_a.noconvert().none(), "n_groups"_a,
          "weights"_a.noconvert().none() = nb::none(),
          "Exact sums of w, w x and w x^2 by group and column; NaN is missing.");
    m.def("buckets", &buckets_of, "values"_a.noconvert(), "groups"_a.noconvert().none(), "n_groups"_a,
          "weights"_a.noconvert().none() = nb::none(),
          "Which buckets of the real line have cells, by column, and how many: eight buckets to each power of two.");
    m.def("scatter", &scatter_of, "values"_a.noconvert(), "groups"_a.noconvert().none(), "n_groups"_a,
          "weights"_a.noconvert().none() = nb::none(),
          "Exact sums of w, w x_i and w x_i x_j by group over complete rows, and the weight of the incomplete ones.");
    m.def("counts", &counts_of, "codes"_a.noconvert(), "sizes"_a.noconvert(), "groups"_a.noconvert().none(),
          "n_groups"_a, "weights"_a.noconvert().none() = nb::none(),
          "How often each code occurs by group and column; code -1 is missing.");
    m.def("joint_counts", &joint_counts_of, "codes"_a.noconvert(), "sizes"_a.noconvert(),
          "weights"_a.noconvert().none() = nb::none(),
          "How often each combination of codes occurs, and how many rows miss a code.");
    m.def("add_exact", &add_exact, "left"_a.noconvert(), "left_low"_a, "right"_a.noconvert(), "right_low"_a,
          "subtract"_a, "Canonical digits of the sum or the difference of canonical digits, (n_entries, n_limbs).");
    m.def("canonical", &canonical_of, "limbs"_a.noconvert(), "low"_a,
          "Limbs of any size with carries moved up, without limbs that no entry needs.");
    m.def("accumulate", &accumulate_of, "values"_a.noconvert(), "Exact sums of columns; NaN is left out.");
    m.def(
        "logarithm", [](const AnyArray& values) { return elementwise(values, [](double x) { return std::log(x); }); },
        "values"_a.noconvert(), "Natural logarithm of each element.");
    m.def(
        "log_one_minus",
        [](const AnyArray& values) { return elementwise(values, [](double x) { return std::log1p(-x); }); },
        "values"_a.noconvert(), "log(1 - x) of each element.");
}

}  // namespace bayeswise::exact
