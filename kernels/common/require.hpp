// What a kernel expects of its arguments; Python sees a ValueError.
#pragma once

#include <stdexcept>

namespace bayeswise {

inline void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(what);
}

}  // namespace bayeswise
