// Ctrl-C ends a long kernel too: whoever works for long calls `check_interrupts()` now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace bayeswise {

// Lets Python answer a signal that has come; throws what its handler raised. Asks at most twenty times a second, with or
// without the GIL; calls in between cost as much as a look at the clock.
inline void check_interrupts() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point checked = Clock::now();
    const Clock::time_point now = Clock::now();
    if (now - checked < std::chrono::milliseconds(50)) return;
    checked = now;
    const nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace bayeswise
