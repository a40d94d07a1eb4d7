// Reading ahead.
#pragma once

namespace bayeswise {

// Asks for a cache line that will be read soon.
inline void expect(const void* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place, 0, 2);
#else
    (void)place;
#endif
}

}  // namespace bayeswise
