// Integer categories as codes: where the values of a column lie close together, a table of codes replaces a hash.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/isa.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::tables {

namespace {

constexpr int kUnseen = -2;

template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Code>
using Codes = nb::ndarray<Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T, typename Visit>
void each_cell(const Cells<T>& values, Visit visit) {
    const int64_t n_rows = values.shape(0), n_columns = values.shape(1);
    const int64_t row_step = values.stride(0), column_step = values.stride(1);
    for (int64_t r = 0; r < n_rows; ++r) {
        const T* row = values.data() + r * row_step;
        for (int64_t c = 0; c < n_columns; ++c) visit(r, c, static_cast<int64_t>(row[c * column_step]));
    }
}

// low[c] and high[c] take in the cells of column c, where those of a row stand side by side.
template <typename T>
BAYESWISE_INLINE void widen_by_rows(int64_t* __restrict low, int64_t* __restrict high, const T* __restrict cells,
                                    int64_t row_step, int64_t n_rows, int64_t n_columns) {
    for (int64_t r = 0; r < n_rows; ++r, cells += row_step)
        for (int64_t c = 0; c < n_columns; ++c) {
            const int64_t value = static_cast<int64_t>(cells[c]);
            low[c] = value < low[c] ? value : low[c];
            high[c] = value > high[c] ? value : high[c];
        }
}

// bits[c] |= 2^(value - lowest[c]) for values less than 64 above the lowest; whether all values are.
template <typename T>
BAYESWISE_INLINE bool mark_by_rows(uint64_t* __restrict bits, const int64_t* __restrict lowest,
                                   const T* __restrict cells, int64_t row_step, int64_t n_rows, int64_t n_columns) {
    uint64_t any = 0;
    for (int64_t r = 0; r < n_rows; ++r, cells += row_step)
        for (int64_t c = 0; c < n_columns; ++c) {
            const uint64_t offset =
                static_cast<uint64_t>(static_cast<int64_t>(cells[c])) - static_cast<uint64_t>(lowest[c]);
            bits[c] |= uint64_t(offset < 64) << (offset & 63);
            any |= offset;
        }
    return any < 64;
}

// The offset of each value from the lowest of its column, or the code of an unseen one, where all offsets fit a byte.
template <typename T>
BAYESWISE_INLINE void offsets_by_rows(int8_t* __restrict out, const int64_t* __restrict lowest,
                                      const int64_t* __restrict sizes, const T* __restrict cells, int64_t row_step,
                                      int64_t n_rows, int64_t n_columns) {
    for (int64_t r = 0; r < n_rows; ++r, cells += row_step, out += n_columns)
        for (int64_t c = 0; c < n_columns; ++c) {
            const int64_t value = static_cast<int64_t>(cells[c]);
            const int64_t offset =
                static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(lowest[c]));
            const bool inside = (value >= lowest[c]) & (offset >= 0) & (offset < sizes[c]);
            out[c] = static_cast<int8_t>(inside ? offset : kUnseen);
        }
}

// lowest[c] and highest[c] take in the values of column c.
template <typename T>
void widen_extents(Cells<T> values, Vector<int64_t> lowest, Vector<int64_t> highest) {
    require(lowest.shape(0) == values.shape(1) && highest.shape(0) == values.shape(1), "extents differ in columns");
    int64_t *low = lowest.data(), *high = highest.data();
    nb::gil_scoped_release release;
    if (values.stride(1) == 1) {
        on_isa<widen_by_rows<T>>(low, high, values.data(), values.stride(0), values.shape(0), values.shape(1));
        return;
    }
    each_cell<T>(values, [=](int64_t, int64_t c, int64_t value) {
        low[c] = std::min(low[c], value);
        high[c] = std::max(high[c], value);
    });
}

// Column c owns sizes[c] entries from starts[c] on, one for each integer from lowest[c] up.
struct Layout {
    const int64_t *lowest, *sizes, *starts;

    Layout(const Vector<const int64_t>& lowest, const Vector<const int64_t>& sizes, const Vector<const int64_t>& starts,
           int64_t n_columns, int64_t n_entries)
        : lowest(lowest.data()), sizes(sizes.data()), starts(starts.data()) {
        for (const auto* each : {&lowest, &sizes, &starts})
            require(static_cast<int64_t>(each->shape(0)) == n_columns, "the layout differs in columns");
        for (int64_t c = 0; c < n_columns; ++c)
            require(sizes.data()[c] >= 0 && starts.data()[c] >= 0 && sizes.data()[c] <= n_entries - starts.data()[c],
                    "the layout leaves its table");
    }

    // The entry of a value, -1 if it lies outside; the unsigned difference cannot overflow.
    int64_t entry(int64_t c, int64_t value) const {
        const uint64_t offset = static_cast<uint64_t>(value) - static_cast<uint64_t>(lowest[c]);
        return value >= lowest[c] && offset < static_cast<uint64_t>(sizes[c]) ? starts[c] + static_cast<int64_t>(offset)
                                                                              : -1;
    }
};

// Whether all values lie within the extents of their columns.
template <typename T>
bool mark_integers(Cells<T> values, Vector<const int64_t> lowest, Vector<const int64_t> sizes,
                   Vector<const int64_t> starts, Vector<uint8_t> seen) {
    const Layout layout(lowest, sizes, starts, values.shape(1), seen.shape(0));
    uint8_t* mark = seen.data();
    const int64_t n_columns = values.shape(1);
    bool all_inside = true;
    nb::gil_scoped_release release;
    if (values.stride(1) == 1 &&
        std::all_of(layout.sizes, layout.sizes + n_columns, [](int64_t n) { return n <= 64; })) {
        std::vector<uint64_t> bits(n_columns);
        all_inside = on_isa<mark_by_rows<T>>(bits.data(), layout.lowest, values.data(), values.stride(0),
                                             values.shape(0), n_columns);
        for (int64_t c = 0; c < n_columns; ++c) {
            for (int64_t k = 0; k < layout.sizes[c]; ++k) mark[layout.starts[c] + k] |= bits[c] >> k & 1;
            all_inside &= layout.sizes[c] == 64 || bits[c] >> layout.sizes[c] == 0;
        }
        return all_inside;
    }
    each_cell<T>(values, [&](int64_t, int64_t c, int64_t value) {
        const int64_t at = layout.entry(c, value);
        if (at >= 0)
            mark[at] = 1;
        else
            all_inside = false;
    });
    return all_inside;
}

// Codes of one byte where they fit: a quarter of the memory to write, and to read again.
template <typename T, typename Code>
void recode_integers(Codes<Code> codes, Cells<T> values, Vector<const int64_t> lowest, Vector<const int64_t> sizes,
                     Vector<const int64_t> starts, Vector<const int32_t> code_of) {
    require(codes.shape(0) == values.shape(0) && codes.shape(1) == values.shape(1), "codes and values differ in shape");
    const Layout layout(lowest, sizes, starts, values.shape(1), code_of.shape(0));
    const int32_t* table = code_of.data();
    Code* out = codes.data();
    const int64_t n_columns = values.shape(1);
    nb::gil_scoped_release release;
    if constexpr (sizeof(Code) == 1) {
        bool are_offsets = values.stride(1) == 1;
        for (int64_t c = 0; c < n_columns && are_offsets; ++c)
            for (int64_t k = 0; k < layout.sizes[c] && are_offsets; ++k)
                are_offsets = k < 128 && table[layout.starts[c] + k] == k;
        if (are_offsets) {
            on_isa<offsets_by_rows<T>>(out, layout.lowest, layout.sizes, values.data(), values.stride(0),
                                       values.shape(0), n_columns);
            return;
        }
    }
    each_cell<T>(values, [&](int64_t r, int64_t c, int64_t value) {
        const int64_t at = layout.entry(c, value);
        out[r * n_columns + c] = static_cast<Code>(at >= 0 ? table[at] : kUnseen);
    });
}

// codes = code_of[level], the last entry for levels below 0; the answer says whether one of them is `unknown`.
bool recode_levels(Vector<int32_t> codes, Vector<const int32_t> levels, Vector<const int32_t> code_of,
                   int32_t unknown) {
    require(codes.shape(0) == levels.shape(0), "codes and levels differ in length");
    require(code_of.shape(0) > 0, "there is no code for missing levels");
    const int32_t *table = code_of.data(), *level = levels.data();
    const uint32_t last = static_cast<uint32_t>(code_of.shape(0) - 1);
    int32_t* out = codes.data();
    const int64_t n_rows = levels.shape(0);
    nb::gil_scoped_release release;
    bool met = false;
    for (int64_t r = 0; r < n_rows; ++r) {
        const uint32_t entry = std::min(static_cast<uint32_t>(level[r]), last);
        if (entry == last && level[r] >= 0) throw std::out_of_range("a level has no code");
        out[r] = table[entry];
        met |= out[r] == unknown;
    }
    return met;
}

template <typename T>
void bind_type(nb::module_& m) {
    m.def("widen_extents", &widen_extents<T>, nb::arg("values").noconvert(), nb::arg("lowest").noconvert(),
          nb::arg("highest").noconvert(), "lowest and highest take in the values of each column");
    m.def("mark_integers", &mark_integers<T>, nb::arg("values").noconvert(), nb::arg("lowest"), nb::arg("sizes"),
          nb::arg("starts"), nb::arg("seen").noconvert(),
          "seen[entry] = 1 for every value within its column's extent; whether all values are");
    const char* recode = "codes = code_of[entry], -2 for values outside their column's extent; codes must hold them";
    m.def("recode_integers", &recode_integers<T, int8_t>, nb::arg("codes").noconvert(), nb::arg("values").noconvert(),
          nb::arg("lowest"), nb::arg("sizes"), nb::arg("starts"), nb::arg("code_of"), recode);
    m.def("recode_integers", &recode_integers<T, int32_t>, nb::arg("codes").noconvert(), nb::arg("values").noconvert(),
          nb::arg("lowest"), nb::arg("sizes"), nb::arg("starts"), nb::arg("code_of"), recode);
}

}  // namespace

void bind_integers(nb::module_& m) {
    m.def("recode_levels", &recode_levels, nb::arg("codes").noconvert(), nb::arg("levels"), nb::arg("code_of"),
          nb::arg("unknown"), "codes = code_of[level], its last entry for levels below 0; whether one is unknown");
    bind_type<int64_t>(m);
    bind_type<int32_t>(m);
    bind_type<int16_t>(m);
    bind_type<int8_t>(m);
    bind_type<uint8_t>(m);
}

}  // namespace bayeswise::tables
