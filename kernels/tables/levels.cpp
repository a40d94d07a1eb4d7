#include "tables/levels.hpp"

#include <stdexcept>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace bayeswise::tables {

namespace {

constexpr uint64_t k1 = 0x9E3779B97F4A7C15ull, k2 = 0xBF58476D1CE4E5B9ull, k3 = 0x94D049BB133111EBull;

// Both halves of a product of 64-bit words, one upon the other: every bit of a and b reaches every bit of the result.
uint64_t product(uint64_t a, uint64_t b) {
#if defined(_MSC_VER)
    uint64_t high;
    const uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    const unsigned __int128 wide = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64);
#endif
}

uint64_t byte(const char* p) { return static_cast<unsigned char>(*p); }

uint64_t eight(const char* p) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
}

uint64_t four(const char* p) {
    uint32_t word;
    std::memcpy(&word, p, 4);
    return word;
}

}  // namespace

// Texts of up to 16 bytes are two words that may overlap, so that there is no loop.
uint64_t hash_text(Tag tag, std::string_view text) {
    const char* p = text.data();
    const std::size_t n = text.size();
    uint64_t h = k1 * (n + 1) + static_cast<uint64_t>(tag), a = 0, b = 0;
    if (n > 16) {
        std::size_t left = n;
        for (; left > 16; left -= 16, p += 16) h = product(eight(p) ^ k2 ^ h, eight(p + 8) ^ k3);
        a = eight(p + left - 16), b = eight(p + left - 8);
    } else if (n >= 8) {
        a = eight(p), b = eight(p + n - 8);
    } else if (n >= 4) {
        a = four(p), b = four(p + n - 4);
    } else if (n > 0) {
        a = byte(p) | byte(p + n / 2) << 8 | byte(p + n - 1) << 16;
    }
    return product(product(a ^ k2 ^ h, b ^ k3) ^ h, k1);
}

uint64_t hash_bits(Tag tag, uint64_t bits) {
    return product(product(bits ^ k2, k3 + static_cast<uint64_t>(tag)) ^ k1, k2);
}

Levels::Levels() : slots_(64, -1) {}

int32_t Levels::of_text(std::string_view text, uint64_t hash, Tag tag) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
        const int32_t i = slots_[slot];
        if (hashes_[i] == hash && levels_[i].tag == tag && levels_[i].text == text) return i;
    }
    return added(Level{tag, 0, kept(text)}, hash, slot);
}

int32_t Levels::of_bits(Tag tag, uint64_t bits, uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
        const int32_t i = slots_[slot];
        if (hashes_[i] == hash && levels_[i].tag == tag && levels_[i].bits == bits) return i;
    }
    return added(Level{tag, bits, {}}, hash, slot);
}

int32_t Levels::added(const Level& level, uint64_t hash, std::size_t slot) {
    if (levels_.size() >= 0x7FFFFFFF) throw std::length_error("more than 2^31 different values");
    const int32_t index = static_cast<int32_t>(levels_.size());
    levels_.push_back(level);
    hashes_.push_back(hash);
    slots_[slot] = index;
    if (levels_.size() * 2 > slots_.size()) grow();
    return index;
}

void Levels::grow() {
    slots_.assign(slots_.size() * 2, -1);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
        std::size_t slot = hashes_[i] & mask;
        while (slots_[slot] >= 0) slot = (slot + 1) & mask;
        slots_[slot] = static_cast<int32_t>(i);
    }
}

std::string_view Levels::kept(std::string_view text) {
    text_bytes_ += text.size();
    if (text.empty()) return {};
    if (text.size() > arena_left_) {
        const std::size_t size = text.size() > 16384 ? text.size() : 16384;
        arena_.push_back(std::make_unique<char[]>(size));
        arena_next_ = arena_.back().get();
        arena_left_ = size;
    }
    std::memcpy(arena_next_, text.data(), text.size());
    const std::string_view copy(arena_next_, text.size());
    arena_next_ += text.size();
    arena_left_ -= text.size();
    return copy;
}

bool sorts_before(const Level& a, const Level& b) {
    if (a.tag != b.tag) return a.tag < b.tag;
    switch (a.tag) {
        case Tag::boolean: return a.bits < b.bits;
        case Tag::integer: return static_cast<int64_t>(a.bits) < static_cast<int64_t>(b.bits);
        case Tag::real: {
            double x, y;
            std::memcpy(&x, &a.bits, 8);
            std::memcpy(&y, &b.bits, 8);
            return x < y;
        }
        default: return a.text < b.text;
    }
}

}  // namespace bayeswise::tables
