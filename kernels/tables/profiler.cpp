#include "tables/profiler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace bayeswise::tables {

namespace {

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

// Numbers and texts one after the other.
class Writer {
public:
    void number(uint64_t x) { bytes.append(reinterpret_cast<const char*>(&x), sizeof x); }
    void real(double x) {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        number(bits);
    }
    void text(std::string_view s) {
        number(s.size());
        bytes.append(s);
    }

    std::string bytes;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}
    uint64_t number() {
        uint64_t x;
        std::memcpy(&x, taken(sizeof x).data(), sizeof x);
        return x;
    }
    double real() {
        const uint64_t bits = number();
        double x;
        std::memcpy(&x, &bits, sizeof x);
        return x;
    }
    std::string_view text() { return taken(number()); }
    // A count of things of which each takes at least so many bytes.
    uint64_t count(std::size_t least) {
        const uint64_t n = number();
        if (n > left_.size() / least) throw std::invalid_argument("the state of a profiler is cut off");
        return n;
    }
    void end() const {
        if (!left_.empty()) throw std::invalid_argument("the state of a profiler goes on after its end");
    }

private:
    std::string_view taken(uint64_t n) {
        if (n > left_.size()) throw std::invalid_argument("the state of a profiler is cut off");
        const std::string_view front = left_.substr(0, n);
        left_.remove_prefix(n);
        return front;
    }

    std::string_view left_;
};

void write_hashes(Writer& to, const DistinctHashes& hashes) {
    const std::vector<uint64_t> all = hashes.sorted();
    to.number(static_cast<uint64_t>(hashes.depth()));
    to.number(all.size());
    for (uint64_t hash : all) to.number(hash);
}

void read_hashes(Reader& from, DistinctHashes& into) {
    const uint64_t depth = from.number();
    if (depth > 63) throw std::invalid_argument("the state of a profiler makes no sense");
    std::vector<uint64_t> all(from.count(sizeof(uint64_t)));
    for (uint64_t& hash : all) hash = from.number();
    into.merge(static_cast<int>(depth), all);
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

void DistinctHashes::merge(int depth, const std::vector<uint64_t>& hashes) {
    if (depth > depth_) {
        depth_ = depth;
        if (!slots_.empty()) rebuild(slots_.size());
    }
    for (uint64_t hash : hashes) add(hash);
}

std::vector<uint64_t> DistinctHashes::sorted() const {
    std::vector<uint64_t> all;
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(all), [](uint64_t hash) { return hash != 0; });
    std::sort(all.begin(), all.end());
    return all;
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

void Profiler::text(std::string_view s, const TextRules& rules, Place place, uint64_t times) {
    rows += times;
    if (rules.null_words.contains(s)) {
        null_words[std::string(s)] += times;
        return;
    }
    const Numeral n = read_number(s, rules.decimal_mark);
    texts += times;
    count_text(s, Tag::text, n.valid && !n.integer, times);
    if (!n.valid) {
        longest = std::max(longest, n_characters(s));
        words += times * n_words(s);
        return count_invalid(s, place, times);
    }
    longest = std::max<uint64_t>(longest, s.size());
    words += times;
    integers += times * n.integer;
    zero_padded += times * n.padded;
    wide_integers += times * n.wide;
    decimals += times * (!n.integer && !n.infinite);
    infinite += times * n.infinite;
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

void Profiler::booleans_of(int64_t n, int64_t n_true) {
    rows += n, booleans += n;
    if (n > n_true) count_level(Level{Tag::boolean, 0, {}}, false, n - n_true);
    if (n_true > 0) count_level(Level{Tag::boolean, 1, {}}, false, n_true);
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

void Profiler::count_invalid(std::string_view s, Place place, uint64_t times) {
    invalid += times;
    keep_example(s, place);
}

void Profiler::keep_example(std::string_view s, Place place) {
    const auto later = [](const InvalidExample& a, const InvalidExample& b) {
        return a.place.row != b.place.row ? a.place.row < b.place.row : a.text < b.text;
    };
    if (!may_keep_example(place)) return;
    invalid_examples.push_back({place, shortened(s, kExampleBytes)});
    std::sort(invalid_examples.begin(), invalid_examples.end(), later);
    if (invalid_examples.size() > kNExamples) invalid_examples.pop_back();
}

void Profiler::count_text(std::string_view s, Tag tag, bool decimal, uint64_t times) {
    const uint64_t hash = hash_text(tag, s);
    if (levels_)
        count(levels_->of_text(s, hash, tag), decimal, times);
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

void Profiler::count(int32_t level, bool decimal, uint64_t times) {
    const std::size_t i = static_cast<std::size_t>(level);
    if (i < counts_.size()) {
        counts_[i] += times;
        return;
    }
    counts_.push_back(times);
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

std::string Profiler::state() const {
    Writer to;
    for (uint64_t n : {rows, missing, integers, zero_padded, decimals, invalid, booleans, infinite, wide_integers,
                       longest, texts, words})
        to.number(n);
    to.real(minimum), to.real(maximum);
    to.number(null_words.size());
    for (const auto& [word, n] : null_words) to.text(word), to.number(n);
    to.number(invalid_examples.size());
    for (const InvalidExample& e : invalid_examples) {
        to.number(static_cast<uint64_t>(e.place.row)), to.number(static_cast<uint64_t>(e.place.line));
        to.text(e.text);
    }
    to.number(counted());
    if (!counted()) {
        write_hashes(to, hashes_), write_hashes(to, decimals_);
        return std::move(to.bytes);
    }
    to.number(levels_->size());
    for (std::size_t k = 0; k < levels_->size(); ++k) {
        const Level& level = (*levels_)[k];
        to.number(static_cast<uint64_t>(level.tag)), to.number(level.bits), to.text(level.text);
        to.number(counts_[k]), to.number(is_decimal_[k]);
    }
    return std::move(to.bytes);
}

void Profiler::absorb(std::string_view state) {
    Reader from(state);
    for (uint64_t* n :
         {&rows, &missing, &integers, &zero_padded, &decimals, &invalid, &booleans, &infinite, &wide_integers})
        *n += from.number();
    longest = std::max(longest, from.number());
    texts += from.number(), words += from.number();
    minimum = std::min(minimum, from.real()), maximum = std::max(maximum, from.real());
    for (uint64_t n = from.count(16); n > 0; --n) {
        const std::string word(from.text());
        null_words[word] += from.number();
    }
    for (uint64_t n = from.count(24); n > 0; --n) {
        const int64_t row = static_cast<int64_t>(from.number()), line = static_cast<int64_t>(from.number());
        keep_example(from.text(), Place{row, line});
    }
    if (from.number() == 0) {
        if (levels_) stop_counting();
        read_hashes(from, hashes_), read_hashes(from, decimals_);
        return from.end();
    }
    for (uint64_t n = from.count(40); n > 0; --n) {
        const uint64_t tag = from.number(), bits = from.number();
        const std::string_view text = from.text();
        const uint64_t times = from.number(), decimal = from.number();
        if (tag > static_cast<uint64_t>(Tag::text))
            throw std::invalid_argument("the state of a profiler makes no sense");
        count_level(Level{static_cast<Tag>(tag), bits, text}, decimal != 0, times);
    }
    from.end();
}

void Profiler::count_level(const Level& level, bool decimal, uint64_t times) {
    const bool named = level.tag == Tag::text || level.tag == Tag::wide_integer;
    const uint64_t hash = named ? hash_text(level.tag, level.text) : hash_bits(level.tag, level.bits);
    if (!levels_) return (decimal ? decimals_ : hashes_).add(hash);
    count(named ? levels_->of_text(level.text, hash, level.tag) : levels_->of_bits(level.tag, level.bits, hash),
          decimal, times);
}

double Profiler::mean_words() const {
    return texts == 0 ? 0.0 : static_cast<double>(words) / static_cast<double>(texts);
}

}  // namespace bayeswise::tables
