#if defined(__GNUC__)
#define LANES 2
#else
#define LANES 1
#endif
#include "exact/sweep/lanes.hpp"
#include "exact/sweep/sweep.inl"

const bayeswise::exact::Sweeps bayeswise::exact::plain_sweeps = {plain::lanes,   plain::look, plain::clean,
                                                                 plain::moments, plain::pack, plain::multiply};
