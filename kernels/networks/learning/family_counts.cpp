// How often each combination of a few coded columns occurs: what scores of structures are made of.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::networks {

namespace {

template <class Code>
using Columns = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (n_columns, n_rows)
using Weights = std::optional<nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
using Counts = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int64_t kBlock = 1024;
constexpr int64_t kLanes = 8;
constexpr int64_t kSmall = 1 << 12;  // cells whose counters stay in the cache, lanes and all

// The cell of each row of a block, and the largest of them.
template <class Code>
BAYESWISE_INLINE uint32_t cells_of(const Columns<Code>& columns, const std::vector<int>& scope,
                                   const std::vector<int64_t>& sizes, int64_t start, int64_t count,
                                   uint32_t* __restrict cell) {
    std::fill(cell, cell + count, 0u);
    for (size_t k = 0; k < scope.size(); ++k) {
        const Code* code = columns.data() + scope[k] * int64_t(columns.shape(1)) + start;
        const uint32_t size = uint32_t(sizes[k]);
        for (int64_t r = 0; r < count; ++r) cell[r] = cell[r] * size + code[r];
    }
    uint32_t top = 0;
    for (int64_t r = 0; r < count; ++r) top = std::max(top, cell[r]);
    return top;
}

// The last column of the scope changes fastest. Neighbouring rows often share a cell, and a counter that was just written
// is slow to read; so each of several neighbours has counters of its own.
template <class Code>
void count_family(Columns<Code> columns, const std::vector<int>& scope, const std::vector<int64_t>& sizes,
                  Counts counts, Weights weights) {
    int64_t n_cells = 1;
    for (int64_t size : sizes) n_cells *= size;
    require(scope.size() == sizes.size() && int64_t(counts.shape(0)) == n_cells,
            "counts do not have the size of the family");
    for (int column : scope) require(column >= 0 && column < int(columns.shape(0)), "there is no such column");
    const int64_t n_rows = int64_t(columns.shape(1));
    require(!weights || int64_t(weights->shape(0)) == n_rows, "give each row one weight");
    const int64_t* weight = weights ? weights->data() : nullptr;
    nb::gil_scoped_release unlocked;
    const bool small = n_cells <= kSmall && !weight;
    std::vector<uint32_t> cell(kBlock);
    std::vector<uint32_t> lanes(small ? size_t(n_cells * kLanes) : 0, 0u);
    bool outside = false;
    for (int64_t start = 0; start < n_rows; start += kBlock) {
        const int64_t count = n_rows - start < kBlock ? n_rows - start : kBlock;
        const uint32_t top = on_isa_up_to_avx2<cells_of<Code>>(columns, scope, sizes, start, count, cell.data());
        if (int64_t(top) >= n_cells) {
            outside = true;
            break;
        }
        int64_t r = 0;
        if (small)
            for (; r + kLanes <= count; r += kLanes)
                for (int64_t lane = 0; lane < kLanes; ++lane) ++lanes[cell[r + lane] * kLanes + lane];
        for (; r < count; ++r) counts.data()[cell[r]] += weight ? weight[start + r] : 1;
    }
    if (small)
        for (int64_t k = 0; k < n_cells * kLanes; ++k) counts.data()[k / kLanes] += lanes[k];
    require(!outside, "a code is beyond the size of its column");
}

}  // namespace

template <class Code>
void bind_family(nb::module_& m) {
    m.def("count_family", &count_family<Code>, nb::arg("columns").noconvert(), nb::arg("scope"), nb::arg("sizes"),
          nb::arg("counts").noconvert(), nb::arg("weights").noconvert() = nb::none());
}

void bind_families(nb::module_& m) {
    bind_family<uint8_t>(m);
    bind_family<uint16_t>(m);
}

}  // namespace bayeswise::networks
