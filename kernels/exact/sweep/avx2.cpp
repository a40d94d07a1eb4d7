#if defined(__x86_64__)
#define LANES 4
#include "exact/sweep/lanes.hpp"
#include "exact/sweep/sweep.inl"

const bayeswise::exact::Sweeps bayeswise::exact::avx2_sweeps = {avx2::lanes,   avx2::look, avx2::clean,
                                                                avx2::moments, avx2::pack, avx2::multiply};
#endif
