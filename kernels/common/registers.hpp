// A register of W bytes full of doubles or floats, for functions that are compiled once for each width (see isa.hpp).
#pragma once

#include <cstdint>

#include "common/isa.hpp"

namespace bayeswise {

#if defined(__GNUC__)
template <typename C, int W>
struct Register {
    typedef C type __attribute__((vector_size(W), aligned(sizeof(C)), may_alias));
    static constexpr int64_t lanes = W / int64_t(sizeof(C));
};
#else
template <typename C, int W>
struct Register {
    using type = C;
    static constexpr int64_t lanes = 1;
};
#endif

// Whether numbers can change places between registers.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define BAYESWISE_SHUFFLES 1
#endif
#endif

// The widths of plain, AVX2 and AVX-512: on_isa<f<16>, f<32>, f<64>> takes each with its own.
constexpr int kPlainBytes = 16, kAvx2Bytes = 32, kAvx512Bytes = 64;

template <typename C, int W>
BAYESWISE_INLINE typename Register<C, W>::type load(const C* from) {
    return *reinterpret_cast<const typename Register<C, W>::type*>(from);
}
template <typename C, int W>
BAYESWISE_INLINE void store(C* to, typename Register<C, W>::type value) {
    *reinterpret_cast<typename Register<C, W>::type*>(to) = value;
}

}  // namespace bayeswise
