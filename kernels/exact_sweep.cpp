#include "exact_sweep.h"

#include <cstdlib>
#include <string>

namespace bayeswise {
namespace {

// BAYESWISE_PROCESSOR=plain or avx2 asks for less than the processor offers, so that tests can compare them.
const Sweeps& choose() {
#if defined(__x86_64__)
    const char* wish = std::getenv("BAYESWISE_PROCESSOR");
    const std::string limit = wish ? wish : "avx512";
    __builtin_cpu_init();
    if (limit == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return avx512_sweeps;
    if (limit != "plain" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_sweeps;
#endif
    return plain_sweeps;
}

}  // namespace

const Sweeps& sweeps() {
    static const Sweeps& chosen = choose();
    return chosen;
}

}  // namespace bayeswise
