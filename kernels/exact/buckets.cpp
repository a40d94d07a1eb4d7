#include "exact/sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exact/sweep/sweep.hpp"

namespace bayeswise::exact {

namespace {

constexpr int kDroppedBits = 49;  // sign, exponent and three bits of the mantissa are left
constexpr uint32_t kLeadingBits = 1u << 15, kSign = 1u << 14, kInfinity = 0x7ffu << 3, kInPower = 8;
constexpr int64_t kFewRows = 512;                  // which are sorted: counters take longer to be looked through
constexpr int kColumnsAtOnce = 32;                 // whose counters take 4 MB
constexpr std::size_t kStep = kLeadingBits + 592;  // so that columns of alike numbers use different lines of the cache
constexpr int kColumnsTogether = 4;
constexpr int64_t kRowsAtOnce = 1 << 14;  // as codes, where rows have weights

uint32_t leading_bits(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<uint32_t>(bits >> kDroppedBits);
}

// In the order of the numbers; -0 and 0 are one.
int32_t bucket_of(uint32_t leading) {
    const int32_t magnitude = static_cast<int32_t>(leading & (kSign - 1));
    return leading & kSign ? -magnitude : magnitude;
}

bool is_finite(uint32_t leading) { return (leading & (kSign - 1)) < kInfinity; }

template <class T>
class BucketSweep {
public:
    BucketSweep(const Matrix<T>& values, const Rows& rows) : values_(values), rows_(rows) {}

    Buckets found() {
        for (int64_t first = 0; first < values_.columns; first += kColumnsAtOnce) {
            const int columns = static_cast<int>(std::min<int64_t>(kColumnsAtOnce, values_.columns - first));
            const std::size_t before = found_.keys.size();
            if (values_.rows < kFewRows && !rows_.weighted())
                for (int c = 0; c < columns; ++c) sort_column(first + c);
            else
                count_columns(first, columns);
            if (rows_.weighted()) weigh(first, columns, before);
        }
        if (rows_.weighted()) found_.weights = all_weights();
        return std::move(found_);
    }

private:
    void sort_column(int64_t column) {
        sorted_.clear();
        for (int64_t r = 0; r < values_.rows; ++r) {
            if (rows_.group(r) < 0) continue;
            const uint32_t leading = leading_bits(values_.row(r)[column]);
            if (is_finite(leading)) sorted_.push_back(bucket_of(leading));
        }
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t first = 0, last; first < sorted_.size(); first = last) {
            for (last = first; last < sorted_.size() && sorted_[last] == sorted_[first];) ++last;
            keep(column, sorted_[first], static_cast<int64_t>(last - first));
        }
    }

    void count_columns(int64_t first, int columns) {
        counters_.assign(kStep * columns, 0);
        const bool by_column = values_.row_stride == sizeof(T) && values_.column_stride != sizeof(T);
        for (int64_t begin = 0; begin < values_.rows; begin += kTileRows) {
            counted_.clear();
            for (int64_t r = begin; r < std::min(begin + kTileRows, values_.rows); ++r)
                if (rows_.group(r) >= 0) counted_.push_back(r);
            if (by_column)
                for (int c = 0; c < columns; c += kColumnsTogether)
                    count_strip(first + c, std::min(kColumnsTogether, columns - c), counters_.data() + kStep * c);
            else
                for (int64_t r : counted_) {
                    const char* cell = values_.data + r * values_.row_stride + first * values_.column_stride;
                    if (values_.column_stride == sizeof(T))
                        count_row({cell, sizeof(T)}, columns, counters_.data());
                    else
                        count_row({cell, values_.column_stride}, columns, counters_.data());
                }
        }
        for (int c = 0; c < columns; ++c) keep_column(first + c, counters_.data() + kStep * c);
    }

    // A few columns, each of which lies in one piece; together, since alike numbers wait for each other's counter.
    void count_strip(int64_t first, int columns, uint32_t* counters) {
        const char* place = values_.data + first * values_.column_stride;
        if (columns < kColumnsTogether) {
            for (int64_t r : counted_) count_row({place + r * sizeof(T), values_.column_stride}, columns, counters);
            return;
        }
        const Vector<T> column[] = {{place, sizeof(T)},
                                    {place + values_.column_stride, sizeof(T)},
                                    {place + 2 * values_.column_stride, sizeof(T)},
                                    {place + 3 * values_.column_stride, sizeof(T)}};
        for (int64_t r : counted_)
            for (int c = 0; c < kColumnsTogether; ++c) ++counters[c * kStep + leading_bits(column[c][r])];
    }

    static void count_row(const Vector<T> cells, int columns, uint32_t* counters) {
        int c = 0;
        for (; c + 4 <= columns; c += 4, counters += 4 * kStep) {
            ++counters[leading_bits(cells[c])];
            ++counters[kStep + leading_bits(cells[c + 1])];
            ++counters[2 * kStep + leading_bits(cells[c + 2])];
            ++counters[3 * kStep + leading_bits(cells[c + 3])];
        }
        for (; c < columns; ++c, counters += kStep) ++counters[leading_bits(cells[c])];
    }

    void keep_column(int64_t column, uint32_t* counters) {
        counters[0] += std::exchange(counters[kSign], 0);
        for (uint32_t m = kInfinity; m > 0; m -= kInPower)
            if (any(counters + kSign + m - kInPower))
                for (uint32_t k = m; k-- > m - kInPower;) keep(column, bucket_of(kSign + k), counters[kSign + k]);
        for (uint32_t m = 0; m < kInfinity; m += kInPower)
            if (any(counters + m))
                for (uint32_t k = m; k < m + kInPower; ++k) keep(column, bucket_of(k), counters[k]);
    }

    // Whether a power of two has numbers.
    static bool any(const uint32_t* counters) {
        uint32_t seen = 0;
        for (uint32_t k = 0; k < kInPower; ++k) seen |= counters[k];
        return seen != 0;
    }

    void keep(int64_t column, int32_t bucket, int64_t count) {
        if (count == 0) return;
        found_.keys.push_back(static_cast<int32_t>(column) * kBucketsOfColumn + kBucketOfZero + bucket);
        found_.counts.push_back(count);
    }

    // The weights of the buckets of a block of columns, whose counters become codes: 0 is missing, 1 the first bucket.
    void weigh(int64_t first, int columns, std::size_t before) {
        std::vector<int64_t> sizes(columns);
        for (std::size_t k = before; k < found_.keys.size(); ++k) {
            const int64_t column = found_.keys[k] / kBucketsOfColumn - first;
            const int32_t bucket = found_.keys[k] % kBucketsOfColumn - kBucketOfZero;
            uint32_t* codes = counters_.data() + kStep * column;
            codes[bucket < 0 ? kSign - bucket : bucket] = static_cast<uint32_t>(++sizes[column]);
        }
        for (int c = 0; c < columns; ++c) counters_[kStep * c + kSign] = counters_[kStep * c];
        const CountLayout layout(std::move(sizes));
        ExactTable sums(static_cast<std::size_t>(layout.slots));
        for (int64_t row = 0; row < values_.rows; row += kRowsAtOnce) {
            const Digits some = weights_of(first, row, std::min(kRowsAtOnce, values_.rows - row), layout);
            for (int64_t slot = 0; slot < layout.slots; ++slot) sums.add_digits(slot, some, slot, 1);
        }
        blocks_.emplace_back(layout, sums.take());
    }

    Digits weights_of(int64_t first, int64_t row, int64_t n_rows, const CountLayout& layout) {
        const int columns = static_cast<int>(layout.sizes.size());
        codes_.resize(n_rows * columns);
        weights_.resize(n_rows);
        for (int64_t r = 0; r < n_rows; ++r) {
            weights_[r] = rows_.group(row + r) < 0 ? 0.0 : rows_.weights[row + r];
            const Vector<T> cells = values_.row(row + r);
            for (int c = 0; c < columns; ++c) codes_[r * columns + c] = code_of(c, cells[first + c]);
        }
        const int64_t width = columns * static_cast<int64_t>(sizeof(int32_t));
        const Matrix<int32_t> codes = {reinterpret_cast<const char*>(codes_.data()), n_rows, columns, width,
                                       sizeof(int32_t)};
        return weighted_counts(codes, layout, Rows{{}, {reinterpret_cast<const char*>(weights_.data()), 8}, 1});
    }

    int32_t code_of(int column, double x) const {
        const uint32_t leading = leading_bits(x);
        return is_finite(leading) ? static_cast<int32_t>(counters_[kStep * column + leading]) - 1 : -1;
    }

    Digits all_weights() {
        ExactTable sums(found_.keys.size());
        std::size_t entry = 0;
        for (const auto& [layout, weights] : blocks_)
            for (std::size_t c = 0; c < layout.sizes.size(); ++c)
                for (int64_t k = 0; k < layout.sizes[c]; ++k)
                    sums.add_digits(entry++, weights, layout.first_slot[c] + k, 1);
        return sums.take();
    }

    const Matrix<T>& values_;
    const Rows& rows_;
    Buckets found_;
    std::vector<int32_t> sorted_, codes_;
    std::vector<int64_t> counted_;    // rows
    std::vector<uint32_t> counters_;  // (columns, kStep)
    std::vector<double> weights_;
    std::vector<std::pair<CountLayout, Digits>> blocks_;
};

}  // namespace

template <class T>
Buckets buckets(const Matrix<T>& values, const Rows& rows) {
    return BucketSweep<T>(values, rows).found();
}

template Buckets buckets(const Matrix<float>&, const Rows&);
template Buckets buckets(const Matrix<double>&, const Rows&);

}  // namespace bayeswise::exact
