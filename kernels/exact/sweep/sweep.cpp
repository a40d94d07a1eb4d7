#include "exact/sweep/sweep.hpp"

#include "common/isa.hpp"

namespace bayeswise::exact {

const Sweeps& sweeps() {
    switch (isa()) {
#if defined(__x86_64__)
        case Isa::avx512: return avx512_sweeps;
        case Isa::avx2: return avx2_sweeps;
#endif
        default: return plain_sweeps;
    }
}

}  // namespace bayeswise::exact
