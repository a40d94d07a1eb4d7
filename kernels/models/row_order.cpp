// An order of rows that depends on their cells alone: a hash of each row, the places of rows by hash, and rows by place.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "common/cache.hpp"
#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <typename T>
using OutCells = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Hashes = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutHashes = nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutPlaces = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int kTopShift = 56, kDigits = 256;
constexpr int64_t kFew = 24, kAhead = 12;

// The bits of a cell over all 64, those of 0 and -0 as 0.
template <typename T>
BAYESWISE_INLINE uint64_t mixed(T cell, uint64_t odd) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const T unsigned_zero = cell + T(0);
    Bits own;
    std::memcpy(&own, &unsigned_zero, sizeof(T));
    uint64_t bits = own;
    bits ^= bits >> 32;  // the bits that differ between round numbers are the high ones
    bits *= odd;
    return bits ^ (bits >> 29);
}

template <typename T>
BAYESWISE_INLINE uint64_t hash_of(const T* __restrict row, const uint64_t* __restrict odd, int64_t n) {
    uint64_t sum = 0;
    for (int64_t c = 0; c < n; ++c) sum += mixed(row[c], odd[c]);
    return sum;
}

template <typename T>
BAYESWISE_INLINE void hash_block(uint64_t* __restrict hashes, const T* __restrict first, int64_t row_step,
                                 const double* __restrict targets, const uint64_t* __restrict odd, int64_t n_rows,
                                 int64_t n) {
    for (int64_t r = 0; r < n_rows; ++r) hashes[r] = hash_of(first + r * row_step, odd, n) + mixed(targets[r], odd[n]);
}

template <typename T>
void row_hashes(Cells<T> values, Numbers targets, Hashes odd, OutHashes hashes) {
    const int64_t n_rows = values.shape(0), n = values.shape(1);
    require(static_cast<int64_t>(targets.shape(0)) == n_rows && static_cast<int64_t>(hashes.shape(0)) == n_rows,
            "values, targets and hashes differ in rows");
    require(static_cast<int64_t>(odd.shape(0)) == n + 1, "a factor is needed for each column and one for the target");
    const int64_t row_step = values.stride(0), column_step = values.stride(1);
    const T* cells = values.data();
    nb::gil_scoped_release release;
    if (column_step == 1 || n <= 1) {
        on_isa<hash_block<T>>(hashes.data(), cells, row_step, targets.data(), odd.data(), n_rows, n);
        return;
    }
    for (int64_t r = 0; r < n_rows; ++r) hashes.data()[r] = mixed(targets.data()[r], odd.data()[n]);
    for (int64_t c = 0; c < n; ++c)  // column after column: in Fortran order its cells lie side by side
        for (int64_t r = 0; r < n_rows; ++r)
            hashes.data()[r] += mixed(cells[r * row_step + c * column_step], odd.data()[c]);
}

struct Placed {
    uint64_t hash;
    int64_t place;
    bool operator<(const Placed& other) const { return hash != other.hash ? hash < other.hash : place < other.place; }
};

// By hash and then by place, digit after digit from the high ones; `pairs` come in the order of their places.
void sort_pairs(Placed* pairs, Placed* scratch, int64_t n, int shift) {
    if (n <= kFew || shift < 0) {
        if (shift >= 0) std::sort(pairs, pairs + n);
        return;
    }
    std::array<int64_t, kDigits + 1> ends{};
    for (int64_t i = 0; i < n; ++i) ++ends[((pairs[i].hash >> shift) & 255) + 1];
    if (*std::max_element(ends.begin(), ends.end()) == n) return sort_pairs(pairs, scratch, n, shift - 8);
    for (int d = 0; d < kDigits; ++d) ends[d + 1] += ends[d];
    std::array<int64_t, kDigits> next;
    std::copy(ends.begin(), ends.end() - 1, next.begin());
    for (int64_t i = 0; i < n; ++i) scratch[next[(pairs[i].hash >> shift) & 255]++] = pairs[i];
    std::copy(scratch, scratch + n, pairs);
    for (int d = 0; d < kDigits; ++d) sort_pairs(pairs + ends[d], scratch, ends[d + 1] - ends[d], shift - 8);
}

// Of the 256 ranges of hashes with the same first byte, those from `first` to before `last`, each to its own places.
void places_by_hash(Hashes hashes, int64_t first, int64_t last, OutPlaces places, OutHashes sorted) {
    const int64_t n = hashes.shape(0);
    require(static_cast<int64_t>(places.shape(0)) == n && static_cast<int64_t>(sorted.shape(0)) == n,
            "hashes and places differ in rows");
    require(0 <= first && first <= last && last <= kDigits, "a hash begins with a byte");
    nb::gil_scoped_release release;
    const uint64_t* h = hashes.data();
    std::array<int64_t, kDigits + 1> ends{};
    for (int64_t i = 0; i < n; ++i) ++ends[(h[i] >> kTopShift) + 1];
    for (int d = 0; d < kDigits; ++d) ends[d + 1] += ends[d];
    const int64_t begin = ends[first], size = ends[last] - begin;
    std::array<int64_t, kDigits> next;
    for (int d = 0; d < kDigits; ++d) next[d] = ends[d] - begin;
    std::vector<Placed> pairs(size), scratch(size);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t digit = h[i] >> kTopShift;
        if (digit >= first && digit < last) pairs[next[digit]++] = {h[i], i};
    }
    for (int64_t d = first; d < last; ++d)
        sort_pairs(pairs.data() + ends[d] - begin, scratch.data(), ends[d + 1] - ends[d], kTopShift - 8);
    for (int64_t i = 0; i < size; ++i) {
        places.data()[begin + i] = pairs[i].place;
        sorted.data()[begin + i] = pairs[i].hash;
    }
}

template <typename T>
BAYESWISE_INLINE void copy_row(T* __restrict to, const T* __restrict from, int64_t n) {
    for (int64_t c = 0; c < n; ++c) to[c] = from[c] + T(0);
}

template <typename T>
BAYESWISE_INLINE void copy_rows(T* __restrict to, const T* __restrict from, int64_t row_step,
                                const int64_t* __restrict places, int64_t n_places, int64_t n) {
    for (int64_t r = 0; r < n_places; ++r) {
        if (r + kAhead < n_places) {
            const char* ahead = reinterpret_cast<const char*>(from + places[r + kAhead] * row_step);
            const int64_t bytes = std::min<int64_t>(n * int64_t(sizeof(T)), 512);
            for (int64_t b = 0; b < bytes; b += 64) expect(ahead + b);
        }
        copy_row(to + r * n, from + places[r] * row_step, n);
    }
}

template <typename T>
void rows_at(Cells<T> values, Places places, OutCells<T> rows) {
    const int64_t n_rows = values.shape(0), n = values.shape(1), n_places = places.shape(0);
    require(static_cast<int64_t>(rows.shape(0)) == n_places && static_cast<int64_t>(rows.shape(1)) == n,
            "rows have another shape than values at these places");
    for (int64_t r = 0; r < n_places; ++r)
        require(places.data()[r] >= 0 && places.data()[r] < n_rows, "a place is not one of a row");
    const int64_t row_step = values.stride(0), column_step = values.stride(1);
    const T* cells = values.data();
    nb::gil_scoped_release release;
    if (column_step == 1 || n <= 1) {
        on_isa<copy_rows<T>>(rows.data(), cells, row_step, places.data(), n_places, n);
        return;
    }
    for (int64_t r = 0; r < n_places; ++r)
        for (int64_t c = 0; c < n; ++c)
            rows.data()[r * n + c] = cells[places.data()[r] * row_step + c * column_step] + T(0);
}

// The first numbers below 2^62 of NumPy's default generator with the seed 0, twice each and one: as they were drawn
// before they were made here. NumPy's generators take longer to import than a small table to learn.
void odd_factors(OutHashes odd) {
    using Wide = unsigned __int128;
    constexpr auto wide = [](uint64_t high, uint64_t low) { return Wide{high} << 64 | low; };
    constexpr Wide factor = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
    constexpr Wide step = wide(0x418ddadb3af71a82, 0x588133bc447873a9);
    constexpr uint64_t most = (uint64_t{1} << 62) - 1;
    Wide state = wide(0x1aa1b5345996452d, 0x09585eb7a69561e3);
    for (std::size_t k = 0; k < odd.shape(0);) {
        state = state * factor + step;
        const uint64_t bits = static_cast<uint64_t>(state >> 64) ^ static_cast<uint64_t>(state);
        const int turn = static_cast<int>(state >> 122);
        const Wide product = Wide{bits >> turn | bits << (-turn & 63)} * most;
        if (static_cast<uint64_t>(product) < (0 - most) % most) continue;  // so that all numbers are as frequent
        odd.data()[k++] = 2 * (static_cast<uint64_t>(product >> 64) + 1) + 1;
    }
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("row_hashes", &row_hashes<T>, nb::arg("values").noconvert(), nb::arg("targets").noconvert(),
          nb::arg("odd").noconvert(), nb::arg("hashes").noconvert(),
          "64 bits of the cells and the target of each row; 0.0 and -0.0 are one value");
    m.def("rows_at", &rows_at<T>, nb::arg("values").noconvert(), nb::arg("places").noconvert(),
          nb::arg("rows").noconvert(), "The rows at some places, without a minus before any zero");
}

}  // namespace

void bind_row_order(nb::module_& m) {
    bind_type<double>(m);
    bind_type<float>(m);
    m.def("odd_factors", &odd_factors, nb::arg("odd").noconvert(), "Odd numbers of 63 bits, always the same ones");
    m.def("places_by_hash", &places_by_hash, nb::arg("hashes").noconvert(), nb::arg("first"), nb::arg("last"),
          nb::arg("places").noconvert(), nb::arg("sorted").noconvert(),
          "The places of the hashes whose first byte is in a range, in ascending order, with these hashes");
}

}  // namespace bayeswise::models
