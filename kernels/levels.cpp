#include "levels.h"

#include <stdexcept>

namespace {

constexpr std::uint64_t k1 = 0x9E3779B97F4A7C15ull, k2 = 0xBF58476D1CE4E5B9ull, k3 = 0x94D049BB133111EBull;

std::uint64_t mixed(std::uint64_t h) {
    h = (h ^ (h >> 30)) * k2;
    h = (h ^ (h >> 27)) * k3;
    return h ^ (h >> 31);
}

std::uint64_t folded(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * k2;
    return (h ^ (h >> 29)) * k3;
}

}  // namespace

std::uint64_t hash_text(Tag tag, std::string_view text) {
    std::uint64_t h = k1 * (text.size() + 1) + static_cast<std::uint64_t>(tag);
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, p += 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        h = folded(h, word);
    }
    std::uint64_t tail = 0;
    for (std::size_t i = 0; i < left; ++i) tail |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
    return mixed(folded(h, tail));
}

std::uint64_t hash_bits(Tag tag, std::uint64_t bits) {
    return mixed(bits * k1 + (static_cast<std::uint64_t>(tag) + 1) * k3);
}

Levels::Levels() : slots_(64, -1) {}

std::int32_t Levels::of_text(std::string_view text, std::uint64_t hash, Tag tag) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
        const std::int32_t i = slots_[slot];
        if (hashes_[i] == hash && levels_[i].tag == tag && levels_[i].text == text) return i;
    }
    return added(Level{tag, 0, kept(text)}, hash, slot);
}

std::int32_t Levels::of_bits(Tag tag, std::uint64_t bits, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
        const std::int32_t i = slots_[slot];
        if (hashes_[i] == hash && levels_[i].tag == tag && levels_[i].bits == bits) return i;
    }
    return added(Level{tag, bits, {}}, hash, slot);
}

std::int32_t Levels::added(const Level& level, std::uint64_t hash, std::size_t slot) {
    if (levels_.size() >= 0x7FFFFFFF) throw std::length_error("more than 2^31 different values");
    const std::int32_t index = static_cast<std::int32_t>(levels_.size());
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
        slots_[slot] = static_cast<std::int32_t>(i);
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
        case Tag::integer: return static_cast<std::int64_t>(a.bits) < static_cast<std::int64_t>(b.bits);
        case Tag::real: {
            double x, y;
            std::memcpy(&x, &a.bits, 8);
            std::memcpy(&y, &b.bits, 8);
            return x < y;
        }
        default: return a.text < b.text;
    }
}
