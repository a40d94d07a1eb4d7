#include "tables/profiler.hpp"

#include <algorithm>
#include <cmath>

namespace bayeswise::tables {

namespace {

constexpr std::size_t kNExamples = 5;
constexpr std::size_t kSampleSize = 1 << 14;  // relative error of an estimate: about 1.2 / sqrt(2^14) = 1 %
constexpr std::size_t kCountedDecimals = 1 << 12;
constexpr std::size_t kExampleBytes = 200;

uint64_t n_characters(std::string_view s) {
    uint64_t n = 0;
    for (char c : s) n += (c & 0xC0) != 0x80;
    return n;
}

uint64_t n_words(std::string_view s) {
    uint64_t n = 0;
    bool inside = false;
    for (char c : s) {
        const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
        n += !blank && !inside;
        inside = !blank;
    }
    return n;
}

// At most `most` bytes, cut between characters.
std::string shortened(std::string_view s, std::size_t most) {
    if (s.size() <= most) return std::string(s);
    while (most > 0 && (s[most] & 0xC0) == 0x80) --most;
    return std::string(s.substr(0, most)) + "\xE2\x80\xA6";
}

}  // namespace

DistinctHashes::DistinctHashes(std::size_t cap) : cap_(cap) {}

void DistinctHashes::add(uint64_t hash) {
    if (hash == 0) hash = 1;
    if (depth_ > 0 && (hash >> (64 - depth_)) != 0) return;
    if (slots_.empty()) slots_.assign(1024, 0);
    insert(hash);
    if (size_ > (depth_ == 0 ? cap_ : std::min(cap_, kSampleSize))) thin();
}

void DistinctHashes::insert(uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask)
        if (slots_[slot] == hash) return;
    slots_[slot] = hash;
    if (++size_ * 4 > slots_.size() * 3) rebuild(slots_.size() * 2);
}

void DistinctHashes::rebuild(std::size_t n_slots) {
    std::vector<uint64_t> old(n_slots, 0);
    old.swap(slots_);
    size_ = 0;
    for (uint64_t hash : old)
        if (hash != 0 && (depth_ == 0 || (hash >> (64 - depth_)) == 0)) insert(hash);
}

void DistinctHashes::thin() {
    while (size_ > std::min(cap_, kSampleSize)) {
        ++depth_;
        rebuild(slots_.size());
    }
    rebuild(2 * kSampleSize);
}

Profiler::Profiler(std::size_t exact_distinct, std::size_t counted_levels, std::size_t counted_bytes)
    : counted_levels_(counted_levels), counted_bytes_(counted_bytes), levels_(std::make_unique<Levels>()),
      hashes_(exact_distinct), decimals_(kCountedDecimals) {}

void Profiler::text(std::string_view s, const TextRules& rules, Place place) {
    ++rows;
    if (rules.null_words.contains(s)) {
        ++null_words[std::string(s)];
        return;
    }
    const Numeral n = read_number(s, rules.decimal_mark);
    ++texts;
    count_text(s, Tag::text, n.valid && !n.integer);
    if (!n.valid) {
        longest = std::max(longest, n_characters(s));
        words += n_words(s);
        return count_invalid(s, place);
    }
    longest = std::max<uint64_t>(longest, s.size());
    ++words;
    integers += n.integer;
    zero_padded += n.padded;
    wide_integers += n.wide;
    decimals += !n.integer && !n.infinite;
    infinite += n.infinite;
    number(n.value);
}

void Profiler::integer(int64_t i) {
    ++rows, ++integers;
    constexpr int64_t limit = int64_t{1} << 53;
    wide_integers += i > limit || i < -limit;
    number(static_cast<double>(i));
    count_bits(Tag::integer, static_cast<uint64_t>(i), false);
}

void Profiler::wide_integer(std::string_view digits) {
    ++rows, ++integers, ++wide_integers;
    number(wide_value(digits));
    count_text(digits, Tag::wide_integer, false);
}

void Profiler::real(double x) {
    if (std::isnan(x)) return null();
    ++rows;
    const bool whole = x == std::floor(x);
    if (std::isinf(x))
        ++infinite;
    else if (whole)
        ++integers;
    else
        ++decimals;
    number(x);
    count_bits(Tag::real, real_bits(x), !whole);
}

void Profiler::boolean(bool b) {
    ++rows, ++booleans;
    count_bits(Tag::boolean, b ? 1 : 0, false);
}

void Profiler::opaque(Place place) {
    ++rows;
    count_invalid("(nested or binary)", place);
}

void Profiler::number(double x) {
    if (std::isinf(x)) return;
    x += 0.0;  // -0.0 and 0.0 are one value
    minimum = std::min(minimum, x);
    maximum = std::max(maximum, x);
}

void Profiler::count_invalid(std::string_view s, Place place) {
    ++invalid;
    const auto later = [](const InvalidExample& a, const InvalidExample& b) { return a.place.row < b.place.row; };
    if (invalid_examples.size() == kNExamples) {
        if (place.row > invalid_examples.back().place.row) return;
        invalid_examples.pop_back();
    }
    invalid_examples.push_back({place, shortened(s, kExampleBytes)});
    std::sort(invalid_examples.begin(), invalid_examples.end(), later);
}

void Profiler::count_text(std::string_view s, Tag tag, bool decimal) {
    const uint64_t hash = hash_text(tag, s);
    if (levels_)
        count(levels_->of_text(s, hash, tag), decimal);
    else
        (decimal ? decimals_ : hashes_).add(hash);
}

void Profiler::count_bits(Tag tag, uint64_t bits, bool decimal) {
    const uint64_t hash = hash_bits(tag, bits);
    if (levels_)
        count(levels_->of_bits(tag, bits, hash), decimal);
    else
        (decimal ? decimals_ : hashes_).add(hash);
}

void Profiler::count(int32_t level, bool decimal) {
    const std::size_t i = static_cast<std::size_t>(level);
    if (i < counts_.size()) {
        ++counts_[i];
        return;
    }
    counts_.push_back(1);
    is_decimal_.push_back(decimal);
    n_decimals_ += decimal;
    if (levels_->size() > counted_levels_ || levels_->text_bytes() > counted_bytes_ || n_decimals_ > kCountedDecimals)
        stop_counting();
}

void Profiler::stop_counting() {
    for (std::size_t k = 0; k < levels_->size(); ++k) (is_decimal_[k] ? decimals_ : hashes_).add(levels_->hash(k));
    levels_.reset();
    std::vector<uint64_t>().swap(counts_);
    std::vector<bool>().swap(is_decimal_);
}

std::vector<std::pair<Level, uint64_t>> Profiler::frequent(std::size_t most) const {
    std::vector<std::pair<Level, uint64_t>> all;
    if (!levels_) return all;
    for (std::size_t i = 0; i < levels_->size(); ++i) all.emplace_back((*levels_)[i], counts_[i]);
    const auto before = [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : sorts_before(a.first, b.first);
    };
    const std::size_t n = std::min(most, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(), before);
    all.resize(n);
    return all;
}

double Profiler::mean_words() const {
    return texts == 0 ? 0.0 : static_cast<double>(words) / static_cast<double>(texts);
}

}  // namespace bayeswise::tables
