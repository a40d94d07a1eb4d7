// What a step towards the highest likelihood of Student's t distribution needs of a sample: six sums in one sweep.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bayeswise::models {

namespace {

constexpr int64_t kLanes = 8, kBlock = 2048;
constexpr int kSums = 6;

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = std::array<double, kSums>;

// With z = (x - location) / scale, s = 1 / (1 + k z^2) and w = share (1 + k) s: the sums of w, w z, w z^2, w (2 s - 1),
// w z s and w z^2 s. Each is made of eight running sums, so that every instruction set adds in one order.
BAYESWISE_INLINE void add_block(double* __restrict lanes, const double* __restrict values,
                                const double* __restrict share, int64_t n, double location, double scale, double k,
                                double farthest) {
    for (int64_t i = 0; i + kLanes <= n; i += kLanes)
        for (int64_t j = 0; j < kLanes; ++j) {
            const double away = (values[i + j] - location) / scale;
            const double z = std::min(std::max(away, -farthest), farthest);
            const double square = z * z, shrink = 1.0 / (1.0 + k * square);
            const double w = share[i + j] * (1.0 + k) * shrink;
            lanes[j] += w;
            lanes[kLanes + j] += w * z;
            lanes[2 * kLanes + j] += w * square;
            lanes[3 * kLanes + j] += w * (2.0 * shrink - 1.0);
            lanes[4 * kLanes + j] += w * (z * shrink);
            lanes[5 * kLanes + j] += w * (square * shrink);
        }
}

Sums student_t_sums(Numbers values, Numbers share, double location, double scale, double k, double farthest) {
    const int64_t n = static_cast<int64_t>(values.shape(0));
    require(static_cast<int64_t>(share.shape(0)) == n, "values and shares differ in number");
    const nb::gil_scoped_release release;
    Sums sums{};
    for (int64_t first = 0; first < n; first += kBlock) {
        const int64_t here = std::min(kBlock, n - first), whole = here / kLanes * kLanes;
        double lanes[kSums * kLanes] = {}, last_values[kLanes] = {}, last_share[kLanes] = {};
        on_isa<add_block>(lanes, values.data() + first, share.data() + first, whole, location, scale, k, farthest);
        if (whole < here) {  // a share of 0 adds nothing
            std::copy(values.data() + first + whole, values.data() + first + here, last_values);
            std::copy(share.data() + first + whole, share.data() + first + here, last_share);
            on_isa<add_block>(lanes, last_values, last_share, kLanes, location, scale, k, farthest);
        }
        for (int s = 0; s < kSums; ++s) {
            const double* of = lanes + s * kLanes;
            sums[static_cast<std::size_t>(s)] +=
                ((of[0] + of[4]) + (of[1] + of[5])) + ((of[2] + of[6]) + (of[3] + of[7]));
        }
    }
    return sums;
}

}  // namespace

void bind_student_t(nb::module_& m) {
    m.def("student_t_sums", &student_t_sums, "values"_a.noconvert(), "share"_a.noconvert(), "location"_a, "scale"_a,
          "k"_a, "farthest"_a, "The sums of w, w z, w z^2, w (2 s - 1), w z s and w z^2 s.");
}

}  // namespace bayeswise::models
