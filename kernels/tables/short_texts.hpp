// Columns of text are often a few short texts again and again: what a sink made of the last ones is remembered.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tables/cells.hpp"

namespace bayeswise::tables {

constexpr std::size_t kLongestShortText = 12;

// Which bits of a short text, as it lies below, hold its length and its bytes.
struct ShortTextBytes {
    uint64_t kept[kLongestShortText + 1][2];  // by length

    constexpr ShortTextBytes() : kept() {
        for (std::size_t length = 0; length <= kLongestShortText; ++length)
            for (std::size_t byte = 0; byte < 4 + length; ++byte) kept[length][byte / 8] |= bits_of(byte % 8);
    }
    static constexpr uint64_t bits_of(std::size_t byte) {
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return uint64_t{0xFF} << (8 * byte);
#else
        return uint64_t{0xFF} << (8 * (7 - byte));
#endif
    }
};
inline constexpr ShortTextBytes kShortTextBytes;

// A short text in 16 bytes: its length, its bytes, zeros (the layout of Arrow's views).
struct ShortText {
    uint64_t words[2] = {~uint64_t{0}, ~uint64_t{0}};  // of no text at all

    bool operator==(const ShortText& other) const {
        return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1])) == 0;
    }
    std::string_view text() const {
        uint32_t length;
        std::memcpy(&length, words, sizeof length);
        return {reinterpret_cast<const char*>(words) + sizeof length, length};
    }
    std::size_t slot(std::size_t n_slots) const {
        return static_cast<std::size_t>((words[0] ^ words[1] * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull >> 32) %
               n_slots;
    }

    // A text of which as many bytes as the longest has may be read.
    static ShortText of(std::string_view text) {
        ShortText found;
        const uint32_t length = static_cast<uint32_t>(text.size());
        char bytes[16];
        std::memcpy(bytes, &length, sizeof length);
        std::memcpy(bytes + sizeof length, text.data(), kLongestShortText);
        std::memcpy(found.words, bytes, sizeof bytes);
        for (int w = 0; w < 2; ++w) found.words[w] &= kShortTextBytes.kept[length][w];
        return found;
    }
};

constexpr std::size_t kShortTexts = 128;  // that are remembered at a time
constexpr int64_t kRowsWorthRemembering = 256;

// Shows texts to a sink; this one remembers nothing.
template <class Sink> class Texts {
public:
    Texts(Sink& sink, int64_t) : sink_(sink) {}
    static constexpr bool remembers() { return false; }
    void show(int64_t row, std::string_view text) { sink_.text(row, text); }
    void show(int64_t row, const ShortText& text) { sink_.text(row, text.text()); }
    void finish() {}

private:
    Sink& sink_;
};

// Codes of texts.
template <> class Texts<LabelsSink> {
public:
    Texts(LabelsSink& sink, int64_t n_rows) : sink_(sink), known_(n_rows >= kRowsWorthRemembering ? kShortTexts : 0) {}
    bool remembers() const { return !known_.empty(); }
    void show(int64_t row, std::string_view text) { sink_.text(row, text); }
    void show(int64_t row, const ShortText& text) {
        Known& known = known_[text.slot(kShortTexts)];
        if (!(known.text == text)) {
            sink_.text(row, text.text());
            known = {text, sink_.out[row]};
        }
        sink_.out[row] = known.code;
    }
    void finish() {}

private:
    struct Known {
        ShortText text;
        int32_t code;
    };
    LabelsSink& sink_;
    std::vector<Known> known_;
};

// How often texts occur: they are counted together, unless the place of a cell matters.
template <> class Texts<ProfileSink> {
public:
    Texts(ProfileSink& sink, int64_t n_rows) : sink_(sink), known_(n_rows >= kRowsWorthRemembering ? kShortTexts : 0) {}
    bool remembers() const { return !known_.empty(); }
    void show(int64_t row, std::string_view text) { sink_.text(row, text); }
    void show(int64_t row, const ShortText& text) {
        Known& known = known_[text.slot(kShortTexts)];
        if (!(known.text == text)) {
            count(known);
            const uint64_t invalid_before = sink_.profiler.invalid;
            sink_.text(row, text.text());
            known = {text, 0, sink_.profiler.invalid > invalid_before};
        } else if (known.invalid && sink_.profiler.may_keep_example(sink_.place(row))) {
            sink_.text(row, text.text());
        } else {
            ++known.times;
        }
    }
    void finish() {
        for (Known& known : known_) count(known);
    }

private:
    struct Known {
        ShortText text;
        uint64_t times = 0;  // that the profiler has not been told of
        bool invalid = false;
    };
    void count(Known& known) {
        if (known.times > 0) sink_.profiler.text(known.text.text(), sink_.rules, kNowhere, known.times);
        known.times = 0;
    }

    ProfileSink& sink_;
    std::vector<Known> known_;
};

}  // namespace bayeswise::tables
