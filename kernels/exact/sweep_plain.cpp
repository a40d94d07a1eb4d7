#if defined(__GNUC__)
#define LANES 2
#else
#define LANES 1
#endif
#include "exact/lanes.hpp"
#include "exact/sweep.inl"

const bayeswise::Sweeps bayeswise::plain_sweeps = {plain::lanes, plain::look, plain::clean, plain::moments,
                                                   plain::pack, plain::multiply};
