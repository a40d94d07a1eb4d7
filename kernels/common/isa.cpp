#include "common/isa.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace bayeswise {

namespace {

constexpr const char* kVariable = "BAYESWISE_ISA";

struct InvalidIsa : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const char* name_of(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "plain"; }

// What this processor can run, the best of them last.
std::vector<Isa> available() {
    std::vector<Isa> found = {Isa::plain};
#if BAYESWISE_COPIES
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("popcnt");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (avx2) found.push_back(Isa::avx2);
    if (avx512) found.push_back(Isa::avx512);
#endif
    return found;
}

Isa named(const std::string& name) {
    for (const Isa each : available())
        if (name == name_of(each)) return each;
    return Isa::invalid;
}

Isa at_load() {
    const char* name = std::getenv(kVariable);
    return name && *name ? named(name) : available().back();
}

std::vector<std::string> available_names() {
    std::vector<std::string> names;
    for (const Isa each : available()) names.emplace_back(name_of(each));
    return names;
}

std::string refusal(const std::string& name) {
    return "this processor and this build cannot run the instruction set '" + name.substr(0, 40) + "'";
}

void use(const std::string& name) {
    const Isa isa = named(name);
    if (isa == Isa::invalid) throw InvalidIsa(refusal(name));
    detail::isa_in_use.store(isa);
}

void raise_parameter_error(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const InvalidIsa& error) {
        std::string names;
        for (const std::string& name : available_names()) names += (names.empty() ? "" : ", ") + name;
        const nb::object type = nb::module_::import_("bayeswise.foundation.errors").attr("ParameterError");
        const nb::object value =
            type(error.what(), nb::arg("fix") = "use one of " + names + ", or leave the variable unset");
        PyErr_SetObject(type.ptr(), value.ptr());
    }
}

}  // namespace

namespace detail {

std::atomic<Isa> isa_in_use{at_load()};

void throw_invalid_isa() {
    const char* name = std::getenv(kVariable);
    throw InvalidIsa(std::string(kVariable) + ": " + refusal(name ? name : ""));
}

}  // namespace detail

void bind_isa(nb::module_& m) {
    nb::register_exception_translator(raise_parameter_error);
    m.def("isa", [] { return name_of(isa()); }, "The instruction set that the kernels use: plain, avx2 or avx512");
    m.def("available_isas", &available_names, "Those that can run here, the best of them last");
    m.def("use_isa", &use, nb::arg("name"), "Use another one from now on; for tests and benchmarks, between calls");
}

}  // namespace bayeswise
