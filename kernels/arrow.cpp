#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_arrow(nb::module_&) {}
