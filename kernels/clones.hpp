// Functions in copies for wider registers; the right one is taken when the module is loaded.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BAYESWISE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define BAYESWISE_CLONES_OF_32_BYTES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define BAYESWISE_CLONES
#define BAYESWISE_CLONES_OF_32_BYTES
#endif

// What such a copy calls becomes part of it.
#if defined(__GNUC__)
#define BAYESWISE_INLINE __attribute__((always_inline)) inline
#else
#define BAYESWISE_INLINE inline
#endif
