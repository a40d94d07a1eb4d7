// Functions in copies for wider registers, and which of the copies run.
//
// A function that is worth copies is marked BAYESWISE_INLINE and called as `on_isa<function>(...)`: each copy is compiled
// for its own instruction set, and the call goes to the copy in use. A function that knows how wide registers are is a
// template of the width: `on_isa<f<16>, f<32>, f<64>>(...)`. The best that the processor has is in use, or the one that
// the environment variable BAYESWISE_ISA names when the module is loaded.
#pragma once

#include <atomic>

namespace bayeswise {

// Whether this compiler makes copies; where it does not, kernels run as plain code, and `isa()` says so.
#if defined(__x86_64__) && defined(__GNUC__)
#define BAYESWISE_COPIES 1
#else
#define BAYESWISE_COPIES 0
#endif

// What such a copy calls becomes part of it.
#if defined(__GNUC__)
#define BAYESWISE_INLINE __attribute__((always_inline)) inline
#else
#define BAYESWISE_INLINE inline
#endif

enum class Isa { invalid, plain, avx2, avx512 };

namespace detail {
extern std::atomic<Isa> isa_in_use;  // invalid: BAYESWISE_ISA names none that can run here
[[noreturn]] void throw_invalid_isa();
}  // namespace detail

// Throws what becomes a ParameterError if BAYESWISE_ISA names an instruction set that cannot run here.
inline Isa isa() {
    const Isa found = detail::isa_in_use.load(std::memory_order_relaxed);
    if (found == Isa::invalid) detail::throw_invalid_isa();
    return found;
}

#if BAYESWISE_COPIES
#define BAYESWISE_AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define BAYESWISE_AVX512 BAYESWISE_WIDE("avx512f,avx512dq,avx512bw,avx512vl,fma,bmi,bmi2,popcnt")
// A copy in registers of 64 bytes, which compilers would rather avoid.
#if defined(__clang__)
#define BAYESWISE_WIDE(features) __attribute__((target(features), min_vector_width(512)))
#else
#define BAYESWISE_WIDE(features) __attribute__((target(features ",prefer-vector-width=512")))
#endif

namespace detail {

// The type of a function forgets that its pointers are apart from each other; all of ours are.
template <typename T> struct Apart {
    using type = T;
};
template <typename T> struct Apart<T*> {
    using type = T* __restrict;
};

template <auto function> struct Copy;
template <typename R, typename... A, R (*function)(A...)>
struct Copy<function> {
    static R plain(typename Apart<A>::type... arguments) { return function(arguments...); }
    BAYESWISE_AVX2 static R avx2(typename Apart<A>::type... arguments) { return function(arguments...); }
    BAYESWISE_AVX512 static R avx512(typename Apart<A>::type... arguments) { return function(arguments...); }
};

template <bool wide, auto plain, auto avx2, auto avx512> struct OnIsa;
template <bool wide, typename R, typename... A, R (*plain)(A...), auto avx2, auto avx512>
struct OnIsa<wide, plain, avx2, avx512> {
    R operator()(A... arguments) const {
        switch (isa()) {
            case Isa::plain: return Copy<plain>::plain(arguments...);
            case Isa::avx512:
                if constexpr (wide) return Copy<avx512>::avx512(arguments...);
                [[fallthrough]];
            default: return Copy<avx2>::avx2(arguments...);
        }
    }
};

}  // namespace detail

template <auto plain, auto avx2 = plain, auto avx512 = avx2>
constexpr detail::OnIsa<true, plain, avx2, avx512> on_isa{};
// For functions that gain nothing from registers of 64 bytes.
template <auto function>
constexpr detail::OnIsa<false, function, function, function> on_isa_up_to_avx2{};
#else
template <auto plain, auto = plain, auto = plain> constexpr auto on_isa = plain;
template <auto function> constexpr auto on_isa_up_to_avx2 = function;
#endif

}  // namespace bayeswise
