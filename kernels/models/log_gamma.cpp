// log |gamma(x)| of each number of an array.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>

#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void log_gamma(Vector x, OutVector logs) {
    require(x.shape(0) == logs.shape(0), "numbers and logarithms differ in number");
    nb::gil_scoped_release release;
    for (std::size_t k = 0; k < x.shape(0); ++k) logs.data()[k] = std::lgamma(x.data()[k]);
}

}  // namespace

void bind_log_gamma(nb::module_& m) {
    m.def("log_gamma", &log_gamma, nb::arg("x"), nb::arg("logs").noconvert(), "log |gamma(x)| of each number");
}

}  // namespace bayeswise::models
