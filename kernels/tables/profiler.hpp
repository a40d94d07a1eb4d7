// What the cells of one column look like, counted in one pass; no count depends on the order of rows or chunks.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tables/levels.hpp"
#include "tables/text/numerals.hpp"

namespace bayeswise::tables {

struct Place {
    int64_t row;
    int64_t line;  // -1 where the table has no lines
};

// The number of different hashes: exact up to a cap; beyond it only the hashes with d leading zero bits are kept, d the
// least number that leaves few enough, and each of them stands for 2^d. That d depends on the set alone.
class DistinctHashes {
public:
    explicit DistinctHashes(std::size_t cap);
    void add(uint64_t hash);
    void merge(int depth, const std::vector<uint64_t>& hashes);
    int depth() const { return depth_; }
    std::vector<uint64_t> sorted() const;
    bool exact() const { return depth_ == 0; }
    uint64_t estimate() const { return static_cast<uint64_t>(size_) << depth_; }

private:
    void insert(uint64_t hash);
    void rebuild(std::size_t n_slots);
    void thin();

    std::size_t cap_;
    std::size_t size_ = 0;
    int depth_ = 0;
    std::vector<uint64_t> slots_;  // 0 is free; none before the first hash
};

struct InvalidExample {
    Place place;
    std::string text;
};

class Profiler {
public:
    static constexpr std::size_t kNExamples = 5;

    Profiler(std::size_t exact_distinct, std::size_t counted_levels, std::size_t counted_bytes);

    void null() { ++rows, ++missing; }
    // So many cells that hold the same text, of which the first lies here.
    void text(std::string_view s, const TextRules& rules, Place place, uint64_t times = 1);
    void integer(int64_t i);
    void wide_integer(std::string_view digits);
    void real(double x);
    void boolean(bool b) { booleans_of(1, b); }
    void booleans_of(int64_t n, int64_t n_true);  // n of them, of which so many are true
    void opaque(Place place);
    // Whether an invalid cell would be among the examples.
    bool may_keep_example(Place place) const {
        return invalid_examples.size() < kNExamples || place.row <= invalid_examples.back().place.row;
    }

    uint64_t distinct() const { return levels_ ? levels_->size() : hashes_.estimate() + decimals_.estimate(); }
    bool distinct_exact() const { return levels_ || (hashes_.exact() && decimals_.exact()); }
    // The most frequent levels, by falling count, then by value; none if there were too many to count.
    std::vector<std::pair<Level, uint64_t>> frequent(std::size_t most) const;
    bool counted() const { return levels_ != nullptr; }
    // All that was counted, as bytes; absorbing them is the same as having seen those cells. std::invalid_argument for
    // bytes that no profiler wrote.
    std::string state() const;
    void absorb(std::string_view state);
    double mean_words() const;

    uint64_t rows = 0, missing = 0, integers = 0, zero_padded = 0, decimals = 0, invalid = 0, booleans = 0;
    uint64_t infinite = 0, wide_integers = 0, longest = 0, texts = 0, words = 0;
    double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity();
    std::map<std::string, uint64_t> null_words;
    std::vector<InvalidExample> invalid_examples;

private:
    void number(double x);
    void count_invalid(std::string_view s, Place place, uint64_t times = 1);
    void keep_example(std::string_view s, Place place);
    void count_level(const Level& level, bool decimal, uint64_t times);
    void count_text(std::string_view s, Tag tag, bool decimal, uint64_t times = 1);
    void count_bits(Tag tag, uint64_t bits, bool decimal);
    void count(int32_t level, bool decimal, uint64_t times = 1);
    void stop_counting();

    std::size_t counted_levels_, counted_bytes_;
    std::unique_ptr<Levels> levels_;  // until there are too many
    std::vector<uint64_t> counts_;
    std::vector<bool> is_decimal_;
    std::size_t n_decimals_ = 0;
    DistinctHashes hashes_, decimals_;  // from then on; decimals are measured, not named, so an estimate is good enough
};

}  // namespace bayeswise::tables
