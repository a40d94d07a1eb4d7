#if defined(__x86_64__)
#define LANES 8
#include "exact/sweep/lanes.hpp"
#include "exact/sweep/sweep.inl"

const bayeswise::exact::Sweeps bayeswise::exact::avx512_sweeps = {avx512::lanes,   avx512::look, avx512::clean,
                                                                  avx512::moments, avx512::pack, avx512::multiply};
#endif
