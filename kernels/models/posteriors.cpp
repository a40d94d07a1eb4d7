// Joints to posteriors: each row of logarithms less its largest, exponentiated, and divided by its sum.
//
// Rows are taken in tiles and turned, so that states come first and every loop runs over rows. A row meets the same
// operations in any tile, so it gets the same bits alone and in a batch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/exponential.hpp"
#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

constexpr int64_t kTileCells = 2048;  // stays in the first cache
constexpr int64_t kMostRows = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Joint = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Below the range of `exponential`: e^x as a square, which is 0 where doubles end.
double tiny_exponential(double x) {
    if (x < -746.0) return 0.0;
    const double root = exponential(0.5 * x);
    return root * root;
}

// turned[k][r] = from[r][k].
BAYESWISE_INLINE void turn(double* __restrict turned, const double* __restrict from, int64_t n_rows, int64_t n_states) {
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t k = 0; k < n_states; ++k) turned[k * n_rows + r] = from[r * n_states + k];
}

// turned[k][r] becomes e^(turned[k][r] - top[r]), where low[r] has the least of a row's exponents; those below the range
// of `exponential` are left for later.
BAYESWISE_INLINE void shifted_exponentials(double* __restrict turned, double* __restrict top, double* __restrict low,
                                           int64_t n_rows, int64_t n_states) {
    for (int64_t r = 0; r < n_rows; ++r) top[r] = turned[r];
    for (int64_t k = 1; k < n_states; ++k)
        for (int64_t r = 0; r < n_rows; ++r) {
            const double x = turned[k * n_rows + r];
            const double larger = x > top[r] ? x : top[r];
            top[r] = x != x ? x : larger;
        }
    for (int64_t r = 0; r < n_rows; ++r) low[r] = 0.0;
    for (int64_t k = 0; k < n_states; ++k)
        for (int64_t r = 0; r < n_rows; ++r) {
            const double x = turned[k * n_rows + r] - top[r];
            low[r] = x < low[r] ? x : low[r];
            turned[k * n_rows + r] = exponential(x > -708.0 ? x : -708.0);
        }
}

// The sums over states, by halves: 50 states round 6 times, not 49. `terms` is used up.
BAYESWISE_INLINE void sums_over_states(double* __restrict total, double* __restrict terms, int64_t n_rows,
                                       int64_t n_states) {
    for (int64_t n = n_states; n > 1; n /= 2) {
        const int64_t half = n / 2 * n_rows;
        for (int64_t at = 0; at < half; ++at) terms[at] += terms[half + at];
        if (n % 2 == 1)
            for (int64_t r = 0; r < n_rows; ++r) terms[r] += terms[2 * half + r];
    }
    for (int64_t r = 0; r < n_rows; ++r) total[r] = terms[r];
}

BAYESWISE_INLINE void divide(double* __restrict out, double* __restrict turned, const double* __restrict total,
                             int64_t n_rows, int64_t n_states) {
    for (int64_t k = 0; k < n_states; ++k)
        for (int64_t r = 0; r < n_rows; ++r) turned[k * n_rows + r] /= total[r];
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t k = 0; k < n_states; ++k) out[r * n_states + k] = turned[k * n_rows + r];
}

BAYESWISE_INLINE void logarithms(double* __restrict out, const double* __restrict total, const double* __restrict top,
                                 int64_t n_rows) {
    for (int64_t r = 0; r < n_rows; ++r) out[r] = logarithm(total[r]) + top[r];
}

// The same for two states, of which the larger has e^0 = 1: one exponential for both. False if a row is not ordinary.
BAYESWISE_INLINE bool halve(double* __restrict shares, double* __restrict total, double* __restrict top,
                            const double* __restrict joint, int64_t n_rows) {
    int64_t beyond = 0;
    for (int64_t r = 0; r < n_rows; ++r) {
        const double x = joint[2 * r], y = joint[2 * r + 1];
        const double larger = x > y ? x : y, gap = (x > y ? y : x) - larger;
        beyond += gap >= -708.0 ? 0 : 1;
        const double small = exponential(gap >= -708.0 ? gap : -708.0);
        const double sum = 1.0 + small;
        const double most = 1.0 / sum, rest = small / sum;
        shares[2 * r] = x > y ? most : rest;
        shares[2 * r + 1] = x > y ? rest : most;
        total[r] = sum;
        top[r] = larger;
    }
    return beyond == 0;
}

// The first row that has no posterior, or the number of rows. A row of minus infinities is given `share` if there is
// one. `out` may be the joint itself; rows from the tile of the row without a posterior on are not written.
int64_t normalise_rows(Out out, Joint log_joint, Vector share, OutVector log_evidence) {
    const int64_t n_rows = log_joint.shape(0), n_states = log_joint.shape(1);
    require(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int64_t>(out.shape(1)) == n_states,
            "the posterior has another shape");
    require(n_states > 0, "there is no state");
    require(share.shape(0) == 0 || static_cast<int64_t>(share.shape(0)) == n_states,
            "share and joint differ in states");
    const bool with_evidence = log_evidence.shape(0) > 0;
    require(!with_evidence || static_cast<int64_t>(log_evidence.shape(0)) == n_rows,
            "evidence and joint differ in rows");
    nb::gil_scoped_release release;
    const int64_t tile = std::clamp<int64_t>(kTileCells / n_states, 1, kMostRows);
    std::vector<double> turned(tile * n_states), terms(tile * n_states), top(tile), low(tile), total(tile);
    for (int64_t first = 0; first < n_rows; first += tile) {
        const int64_t here = std::min(tile, n_rows - first);
        const double* joint = log_joint.data() + first * n_states;
        double* to = out.data() + first * n_states;
        if (n_states == 2 && on_isa<halve>(turned.data(), total.data(), top.data(), joint, here)) {
            std::copy(turned.begin(), turned.begin() + 2 * here, to);
            if (with_evidence) on_isa<logarithms>(log_evidence.data() + first, total.data(), top.data(), here);
            continue;
        }
        on_isa<turn>(turned.data(), joint, here, n_states);
        on_isa<shifted_exponentials>(turned.data(), top.data(), low.data(), here, n_states);
        for (int64_t r = 0; r < here; ++r)
            if (!std::isfinite(top[r]) && !(top[r] == -kInfinity && share.shape(0) > 0)) return first + r;
        for (int64_t r = 0; r < here; ++r)
            for (int64_t k = 0; k < n_states && low[r] < -708.0; ++k) {
                const double x = joint[r * n_states + k] - top[r];
                if (x < -708.0) turned[k * here + r] = tiny_exponential(x);
            }
        std::copy(turned.begin(), turned.begin() + here * n_states, terms.begin());
        on_isa<sums_over_states>(total.data(), terms.data(), here, n_states);
        on_isa<divide>(to, turned.data(), total.data(), here, n_states);
        if (with_evidence) on_isa<logarithms>(log_evidence.data() + first, total.data(), top.data(), here);
        for (int64_t r = 0; r < here; ++r) {
            if (top[r] != -kInfinity) continue;
            std::copy(share.data(), share.data() + n_states, to + r * n_states);
            if (with_evidence) log_evidence.data()[first + r] = -kInfinity;
        }
    }
    return n_rows;
}

}  // namespace

void bind_posteriors(nb::module_& m) {
    m.def(
        "normalise_rows", &normalise_rows, nb::arg("out").noconvert(), nb::arg("log_joint"), nb::arg("share"),
        nb::arg("log_evidence").noconvert(),
        "out = exp(log_joint - log_evidence); the first row that is NaN, inf or, without a share, -inf in all states");
}

}  // namespace bayeswise::models
