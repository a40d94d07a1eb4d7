// Several doubles at once. The file that includes this one defines LANES, the number of doubles: 8 for AVX-512, 4 for
// AVX2, 2 for the vectors every 64-bit processor has, 1 for compilers without vector types.
//
// Other kernels are compiled for several processors by on_isa (common/isa.hpp), from code that names no instruction.
// These loops need what only intrinsics name (a fused multiply-add that is one by contract, masked loads, tests of
// masks), and a function without the target of an intrinsic cannot take it in: hence one file for each target. Written
// by vector types alone, as in common/registers.hpp, moments of 1,000,000 x 20 take 18 % longer with AVX2 and 2.3 times as
// long with AVX-512 (gcc 12, processor time).
#include <cstdint>
#include <cstring>

#if LANES == 8
#include <immintrin.h>
#define LANES_NAME avx512
#define SWEEP __attribute__((target("avx512f,avx512dq")))
#elif LANES == 4
#include <immintrin.h>
#define LANES_NAME avx2
#define SWEEP __attribute__((target("avx2,fma")))
#else
#include "exact/arithmetic.hpp"
#define LANES_NAME plain
#define SWEEP
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define SWEEP_INLINE __forceinline
#else
#define SWEEP_INLINE SWEEP __attribute__((always_inline)) inline
#endif

namespace bayeswise::exact {

namespace LANES_NAME {
namespace {

#if LANES == 1
using Real = double;
using Integer = int64_t;
#else
typedef double Real __attribute__((vector_size(8 * LANES)));
typedef int64_t Integer __attribute__((vector_size(8 * LANES)));
#endif

constexpr int lanes = LANES;

SWEEP_INLINE Real load(const double* from) {
    Real value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

SWEEP_INLINE Integer load(const int64_t* from) {
    Integer value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

SWEEP_INLINE void store(double* to, Real value) { std::memcpy(to, &value, sizeof value); }

SWEEP_INLINE void store(int64_t* to, Integer value) { std::memcpy(to, &value, sizeof value); }

#if LANES == 1
SWEEP_INLINE Integer bits(Real value) {
    Integer result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

SWEEP_INLINE Real real(Integer bits) {
    Real result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}
#else
SWEEP_INLINE Integer bits(Real value) { return (Integer)value; }

SWEEP_INLINE Real real(Integer bits) { return (Real)bits; }
#endif

SWEEP_INLINE Real magnitude(Real value) { return real(bits(value) & INT64_MAX); }

#if LANES == 8

SWEEP_INLINE Real fill(double value) { return (Real)_mm512_set1_pd(value); }

// The first n doubles, then zeros; nothing beyond them is touched.
SWEEP_INLINE Real load_first(const double* from, int n) {
    return (Real)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), from);
}

SWEEP_INLINE Real multiply_add(Real a, Real b, Real c) { return (Real)_mm512_fmadd_pd(a, b, c); }

SWEEP_INLINE Real error_of_product(Real a, Real b, Real product) { return (Real)_mm512_fmsub_pd(a, b, product); }

SWEEP_INLINE bool any_nonzero(Integer magnitudes) {
    return _mm512_test_epi64_mask((__m512i)magnitudes, _mm512_set1_epi64(INT64_MAX)) != 0;
}

// One bit for each lane in which a and b are not equal numbers.
SWEEP_INLINE unsigned lanes_that_differ(Real a, Real b) { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); }

#elif LANES == 4

SWEEP_INLINE Real fill(double value) { return (Real)_mm256_set1_pd(value); }

SWEEP_INLINE Real load_first(const double* from, int n) {
    const __m256i selected = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0));
    return (Real)_mm256_maskload_pd(from, selected);
}

SWEEP_INLINE Real multiply_add(Real a, Real b, Real c) { return (Real)_mm256_fmadd_pd(a, b, c); }

SWEEP_INLINE Real error_of_product(Real a, Real b, Real product) { return (Real)_mm256_fmsub_pd(a, b, product); }

SWEEP_INLINE bool any_nonzero(Integer magnitudes) {
    return !_mm256_testz_si256((__m256i)magnitudes, _mm256_set1_epi64x(INT64_MAX));
}

SWEEP_INLINE unsigned lanes_that_differ(Real a, Real b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)));
}

#else

SWEEP_INLINE Real load_first(const double* from, int n) {
    Real value = {};
    std::memcpy(&value, from, sizeof(double) * static_cast<std::size_t>(n));
    return value;
}

SWEEP_INLINE Real fill(double value) {
    double copies[lanes];
    for (double& copy : copies) copy = value;
    return load(copies);
}

// The callers' products are exact, so that nothing is lost by rounding twice.
SWEEP_INLINE Real multiply_add(Real a, Real b, Real c) { return a * b + c; }

SWEEP_INLINE Real error_of_product(Real a, Real b, Real) {
    double x[lanes], y[lanes];
    store(x, a), store(y, b);
    for (int k = 0; k < lanes; ++k) x[k] = two_product(x[k], y[k]).low;
    return load(x);
}

SWEEP_INLINE bool any_nonzero(Integer magnitudes) {
    int64_t lane[lanes], all = 0;
    store(lane, magnitudes);
    for (const int64_t one : lane) all |= one;
    return (all & INT64_MAX) != 0;
}

SWEEP_INLINE unsigned lanes_that_differ(Real a, Real b) {
    double x[lanes], y[lanes];
    store(x, a), store(y, b);
    unsigned different = 0;
    for (int k = 0; k < lanes; ++k) different |= static_cast<unsigned>(x[k] != y[k]) << k;
    return different;
}

#endif

// The number of the lowest bit that is set.
SWEEP_INLINE int first_lane(unsigned set) {
#if LANES == 1
    return static_cast<int>(set) - 1;
#else
    return __builtin_ctz(set);
#endif
}

}  // namespace
}  // namespace LANES_NAME

}  // namespace bayeswise::exact
