// Log-likelihoods of rows under every state, added to a log joint of shape (n_rows, n_states).
//
// Rows are taken in tiles of a few dozen and turned, so that one register holds one column of several rows: the inner
// loop is the formula, without horizontal sums, for any number of columns and states.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/isa.hpp"
#include "common/require.hpp"
#include "common/turning.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

constexpr int64_t kTileRows = 32;
constexpr int64_t kBlockColumns = 64;  // partial sums this short lose nothing that matters; blocks add with their error

using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Constants = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cells = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

struct NormalParameters {
    const double* mean;       // (n_states, n_columns)
    const double* mean_low;   // digits of the mean beyond 53 bits
    const double* precision;  // 1 / stddev
    const double* log_peak;   // -log(stddev sqrt(2 pi))
    int64_t n_states, n_columns;
};

// total + error is the running sum; error keeps what rounding dropped (TwoSum).
inline void add_with_error(double& total, double& error, double term) {
    const double sum = total + term;
    const double back = sum - total;
    error += (total - (sum - back)) + (term - back);
    total = sum;
}

// sum[r] = log p(x_rc | state) over a block of columns, for one state and one tile; missing cells add nothing. A row has
// the same bits whether or not another row of its tile has missing cells.
BAYESWISE_INLINE void add_block(double* __restrict sum, const double* __restrict columns, const double* mean,
                                const double* mean_low, const double* precision, const double* log_peak,
                                int64_t n_columns, bool has_missing) {
    double squares[kTileRows] = {0.0}, peaks[kTileRows] = {0.0};
    double peak = 0.0;
    for (int64_t c = 0; c < n_columns; ++c) {
        const double* x = columns + c * kTileRows;
        const double m = mean[c], low = mean_low[c], inverse = precision[c], top = log_peak[c];
        if (has_missing) {
            for (int64_t r = 0; r < kTileRows; ++r) {
                const double z = ((x[r] - m) - low) * inverse;
                squares[r] += x[r] == x[r] ? z * z : 0.0;
                peaks[r] += x[r] == x[r] ? top : 0.0;
            }
        } else {
            peak += top;
            for (int64_t r = 0; r < kTileRows; ++r) {
                const double z = ((x[r] - m) - low) * inverse;
                squares[r] += z * z;
            }
        }
    }
    for (int64_t r = 0; r < kTileRows; ++r) sum[r] = (has_missing ? peaks[r] : peak) - 0.5 * squares[r];
}

template <typename T>
bool turn_tile(const Cells<T>& values, int64_t first, int64_t n_rows, double* columns) {
    const int64_t n_columns = values.shape(1), row_step = values.stride(0);
    const T* from = values.data() + first * row_step;
    for (int64_t c = 0; c < n_columns && n_rows < kTileRows; ++c)
        std::fill(columns + c * kTileRows + n_rows, columns + (c + 1) * kTileRows, 0.0);
    return turn_rows<T>(columns, from, row_step, values.stride(1), n_rows, n_columns, kTileRows);
}

template <typename T>
void add_normal(Matrix log_joint, Cells<T> values, Constants mean, Constants mean_low, Constants precision,
                Constants log_peak) {
    const NormalParameters p{mean.data(),
                             mean_low.data(),
                             precision.data(),
                             log_peak.data(),
                             static_cast<int64_t>(mean.shape(0)),
                             static_cast<int64_t>(mean.shape(1))};
    const int64_t n_rows = values.shape(0);
    for (const Constants& each : {mean_low, precision, log_peak})
        require(each.shape(0) == mean.shape(0) && each.shape(1) == mean.shape(1), "parameters differ in shape");
    require(static_cast<int64_t>(values.shape(1)) == p.n_columns, "values and parameters differ in columns");
    require(
        static_cast<int64_t>(log_joint.shape(0)) == n_rows && static_cast<int64_t>(log_joint.shape(1)) == p.n_states,
        "the log joint has another shape");
    nb::gil_scoped_release release;
    std::vector<double> columns(p.n_columns * kTileRows);
    std::vector<double> total(kTileRows), error(kTileRows), part(kTileRows);
    for (int64_t first = 0; first < n_rows; first += kTileRows) {
        const int64_t here = std::min(kTileRows, n_rows - first);
        const bool has_missing = turn_tile(values, first, here, columns.data());
        for (int64_t k = 0; k < p.n_states; ++k) {
            double* joint = log_joint.data() + first * p.n_states + k;
            const auto add = [&](int64_t c) {
                const int64_t at = k * p.n_columns + c;
                on_isa<add_block>(part.data(), columns.data() + c * kTileRows, p.mean + at, p.mean_low + at,
                                  p.precision + at, p.log_peak + at, std::min(kBlockColumns, p.n_columns - c),
                                  has_missing);
            };
            if (p.n_columns <= kBlockColumns) {  // one sum, rounded once
                add(0);
                for (int64_t r = 0; r < here; ++r) joint[r * p.n_states] += part[r];
                continue;
            }
            for (int64_t r = 0; r < here; ++r) total[r] = joint[r * p.n_states];
            std::fill(error.begin(), error.end(), 0.0);
            for (int64_t c = 0; c < p.n_columns; c += kBlockColumns) {
                add(c);
                for (int64_t r = 0; r < here; ++r) add_with_error(total[r], error[r], part[r]);
            }
            // An infinite total has no error term worth adding.
            for (int64_t r = 0; r < here; ++r)
                joint[r * p.n_states] = std::isfinite(total[r]) ? total[r] + error[r] : total[r];
        }
    }
}

// Column c owns sizes[c] + 2 rows of the table: its levels, then "missing" (code -1), then "unseen" (code -2).
// True if every code lies inside. K states known when compiling let the sums stay in registers; K = 0 is any number.
template <typename T, int K>
bool add_table_rows(double* joint, const Cells<T>& codes, const int64_t* sizes, const int64_t* first_row,
                    const double* table, int64_t any_states) {
    const int64_t n_states = K > 0 ? K : any_states;
    const int64_t n_rows = codes.shape(0), n_columns = codes.shape(1);
    const int64_t row_step = codes.stride(0), column_step = codes.stride(1);
    for (int64_t r = 0; r < n_rows; ++r, joint += n_states) {
        const T* row = codes.data() + r * row_step;
        double fixed[K > 0 ? K : 1];
        double* __restrict sums = K > 0 ? fixed : joint;
        if (K > 0) std::copy(joint, joint + n_states, fixed);
        for (int64_t c = 0; c < n_columns; ++c) {
            const int64_t code = row[c * column_step], size = sizes[c];
            if (code < -2 || code >= size) return false;
            const double* entry = table + (first_row[c] + (code >= 0 ? code : size - 1 - code)) * n_states;
            for (int64_t k = 0; k < n_states; ++k) sums[k] += entry[k];
        }
        if (K > 0) std::copy(fixed, fixed + n_states, joint);
    }
    return true;
}

template <typename T>
void add_table(Matrix log_joint, Cells<T> codes, nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig> sizes,
               Constants table) {
    const int64_t n_rows = codes.shape(0), n_columns = codes.shape(1), n_states = log_joint.shape(1);
    require(static_cast<int64_t>(sizes.shape(0)) == n_columns, "codes and sizes differ in columns");
    require(static_cast<int64_t>(log_joint.shape(0)) == n_rows, "the log joint has another number of rows");
    std::vector<int64_t> first_row(n_columns);
    int64_t n_table_rows = 0;
    for (int64_t c = 0; c < n_columns; ++c) {
        first_row[c] = n_table_rows;
        n_table_rows += sizes.data()[c] + 2;
    }
    require(static_cast<int64_t>(table.shape(0)) == n_table_rows && static_cast<int64_t>(table.shape(1)) == n_states,
            "the table has another shape");
    const auto add = n_states == 2   ? add_table_rows<T, 2>
                     : n_states == 3 ? add_table_rows<T, 3>
                     : n_states == 4 ? add_table_rows<T, 4>
                                     : add_table_rows<T, 0>;
    bool inside = true;
    {
        nb::gil_scoped_release release;
        inside = add(log_joint.data(), codes, sizes.data(), first_row.data(), table.data(), n_states);
    }
    require(inside, "a code lies outside its table");
}

// As add_table, of a table whose row at a slot is bases[base_of[slot]], but for the states of the slot that are listed
// between starts[slot] and starts[slot + 1], which have values of their own. Sums are made in the same order.
template <typename T>
void add_levels(Matrix log_joint, Cells<T> codes, nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig> sizes,
                Constants bases, nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig> base_of,
                nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig> starts,
                nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig> states,
                nb::ndarray<const double, nb::ndim<1>, nb::c_contig> values) {
    const int64_t n_rows = codes.shape(0), n_columns = codes.shape(1), n_states = log_joint.shape(1);
    const int64_t n_slots = base_of.shape(0), n_bases = bases.shape(0), n_values = values.shape(0);
    require(static_cast<int64_t>(sizes.shape(0)) == n_columns, "codes and sizes differ in columns");
    require(static_cast<int64_t>(log_joint.shape(0)) == n_rows, "the log joint has another number of rows");
    require(static_cast<int64_t>(bases.shape(1)) == n_states, "bases and log joint differ in states");
    require(static_cast<int64_t>(starts.shape(0)) == n_slots + 1, "starts and slots differ in number");
    require(static_cast<int64_t>(states.shape(0)) == n_values, "states and values differ in number");
    std::vector<int64_t> first_slot(n_columns);
    int64_t next_slot = 0;
    for (int64_t c = 0; c < n_columns; ++c) {
        first_slot[c] = next_slot;
        next_slot += sizes.data()[c] + 2;
    }
    require(next_slot == n_slots, "sizes and slots differ in number");
    bool inside = true;
    {
        nb::gil_scoped_release release;
        std::vector<double> own(n_states);
        for (int64_t r = 0; inside && r < n_rows; ++r) {
            double* __restrict joint = log_joint.data() + r * n_states;
            for (int64_t c = 0; inside && c < n_columns; ++c) {
                const int64_t code = codes.data()[r * codes.stride(0) + c * codes.stride(1)], size = sizes.data()[c];
                inside = code >= -2 && code < size;
                if (!inside) break;
                const int64_t slot = first_slot[c] + (code >= 0 ? code : size - 1 - code);
                const int64_t base = base_of.data()[slot], from = starts.data()[slot], to = starts.data()[slot + 1];
                inside =
                    base >= 0 && base < n_bases && from >= 0 && from <= to && to <= n_values && to - from <= n_states;
                for (int64_t at = from; inside && at < to; ++at) {
                    const int64_t state = states.data()[at];
                    inside = state >= 0 && state < n_states;
                    if (inside) own[at - from] = joint[state] + values.data()[at];
                }
                if (!inside) break;
                const double* __restrict entry = bases.data() + base * n_states;
                for (int64_t k = 0; k < n_states; ++k) joint[k] += entry[k];
                for (int64_t at = from; at < to; ++at) joint[states.data()[at]] = own[at - from];
            }
        }
    }
    require(inside, "a code lies outside its table");
}

// log_joint[r] += sum over the words of row r of count * log_weight[word]
template <typename I>
void add_sparse(Matrix log_joint, nb::ndarray<const I, nb::ndim<1>, nb::c_contig> starts,
                nb::ndarray<const I, nb::ndim<1>, nb::c_contig> words,
                nb::ndarray<const double, nb::ndim<1>, nb::c_contig> counts, Constants log_weight) {
    const int64_t n_rows = log_joint.shape(0), n_states = log_joint.shape(1), n_words = log_weight.shape(0);
    require(static_cast<int64_t>(starts.shape(0)) == n_rows + 1, "row starts and log joint differ in rows");
    require(static_cast<int64_t>(log_weight.shape(1)) == n_states, "weights and log joint differ in states");
    require(words.shape(0) == counts.shape(0), "words and counts differ in length");
    const int64_t n_cells = words.shape(0);
    bool inside = true;
    {
        nb::gil_scoped_release release;
        for (int64_t r = 0; r < n_rows; ++r) {
            double* __restrict joint = log_joint.data() + r * n_states;
            const int64_t from = starts.data()[r], to = starts.data()[r + 1];
            inside &= from >= 0 && from <= to && to <= n_cells;
            if (!inside) break;
            for (int64_t at = from; at < to; ++at) {
                const int64_t word = words.data()[at];
                inside &= word >= 0 && word < n_words;
                if (!inside) break;
                const double count = counts.data()[at];
                const double* __restrict weight = log_weight.data() + word * n_states;
                if (count == 0.0) continue;
                for (int64_t k = 0; k < n_states; ++k) joint[k] += count * weight[k];
            }
        }
    }
    require(inside, "a word lies outside the table, or the row starts are out of order");
}

}  // namespace

void bind_likelihood(nb::module_& m) {
    const char* normal = "log_joint += sum over present cells of log Normal(x; mean + mean_low, 1 / precision)";
    m.def("add_normal", &add_normal<double>, nb::arg("log_joint").noconvert(), nb::arg("values").noconvert(),
          nb::arg("mean"), nb::arg("mean_low"), nb::arg("precision"), nb::arg("log_peak"), normal);
    m.def("add_normal", &add_normal<float>, nb::arg("log_joint").noconvert(), nb::arg("values").noconvert(),
          nb::arg("mean"), nb::arg("mean_low"), nb::arg("precision"), nb::arg("log_peak"), normal);
    const char* table = "log_joint += sum over columns of the table row of each code";
    m.def("add_table", &add_table<int32_t>, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("sizes"), nb::arg("table"), table);
    m.def("add_table", &add_table<int8_t>, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("sizes"), nb::arg("table"), table);
    const char* levels = "log_joint += sum over columns of the base of each code, or the own values of some states";
    m.def("add_levels", &add_levels<int32_t>, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("sizes"), nb::arg("bases"), nb::arg("base_of"), nb::arg("starts"), nb::arg("states"),
          nb::arg("values"), levels);
    m.def("add_levels", &add_levels<int8_t>, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("sizes"), nb::arg("bases"), nb::arg("base_of"), nb::arg("starts"), nb::arg("states"),
          nb::arg("values"), levels);
    const char* sparse = "log_joint += counts @ log_weight for compressed sparse rows";
    m.def("add_sparse", &add_sparse<int32_t>, nb::arg("log_joint").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("counts").noconvert(), nb::arg("log_weight"), sparse);
    m.def("add_sparse", &add_sparse<int64_t>, nb::arg("log_joint").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("words").noconvert(), nb::arg("counts").noconvert(), nb::arg("log_weight"), sparse);
}

}  // namespace bayeswise::models
