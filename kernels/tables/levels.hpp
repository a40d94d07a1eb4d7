// A dictionary of values that only grows: text, integers, doubles and booleans are different values.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace bayeswise::tables {

enum class Tag : uint8_t { boolean, integer, wide_integer, real, text };

// One value; numbers live in `bits`, texts (and the digits of wide integers) in `text`.
struct Level {
    Tag tag;
    uint64_t bits;
    std::string_view text;
};

uint64_t hash_text(Tag tag, std::string_view text);
uint64_t hash_bits(Tag tag, uint64_t bits);

inline uint64_t real_bits(double value) {
    if (value == 0.0) value = 0.0;  // -0.0 and 0.0 are one value
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

class Levels {
public:
    Levels();
    Levels(const Levels&) = delete;
    Levels& operator=(const Levels&) = delete;

    int32_t of_text(std::string_view text, Tag tag = Tag::text) { return of_text(text, hash_text(tag, text), tag); }
    int32_t of_text(std::string_view text, uint64_t hash, Tag tag);
    int32_t of_bits(Tag tag, uint64_t bits) { return of_bits(tag, bits, hash_bits(tag, bits)); }
    int32_t of_bits(Tag tag, uint64_t bits, uint64_t hash);

    std::size_t size() const { return levels_.size(); }
    std::size_t text_bytes() const { return text_bytes_; }
    const Level& operator[](std::size_t i) const { return levels_[i]; }
    uint64_t hash(std::size_t i) const { return hashes_[i]; }
    std::mutex& mutex() { return mutex_; }

private:
    std::string_view kept(std::string_view text);
    int32_t added(const Level& level, uint64_t hash, std::size_t slot);
    void grow();

    std::vector<Level> levels_;
    std::vector<uint64_t> hashes_;
    std::vector<int32_t> slots_;  // index of a level, or -1
    std::vector<std::unique_ptr<char[]>> arena_;
    std::size_t arena_left_ = 0;
    char* arena_next_ = nullptr;
    std::size_t text_bytes_ = 0;
    std::mutex mutex_;
};

// True if a sorts before b: by tag, then by value.
bool sorts_before(const Level& a, const Level& b);

}  // namespace bayeswise::tables
