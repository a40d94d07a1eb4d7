// Thrift's compact protocol, in which Parquet describes itself, read from front to back.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace bayeswise::tables::parquet {

// A file that is not what it says, or says what this reader does not know.
struct Damaged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void expect_whole(bool is_whole, const char* what) {
    if (!is_whole) throw Damaged(what);
}

class Compact {
public:
    enum Type : int { kTrue = 1, kFalse = 2, kByte = 3, kDouble = 7, kBinary = 8, kList = 9, kSet = 10, kStruct = 12 };

    explicit Compact(std::string_view bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

    std::size_t n_read() const { return static_cast<std::size_t>(at_ - begin_); }

    int64_t integer() {
        const uint64_t zigzag = unsigned_integer();
        return static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
    }

    int32_t small_integer() {
        const int64_t value = integer();
        expect_whole(value == static_cast<int32_t>(value), "an integer is too large");
        return static_cast<int32_t>(value);
    }

    int8_t one_byte() { return static_cast<int8_t>(byte()); }

    std::string_view binary() {
        const uint64_t size = unsigned_integer();
        const char* from = at_;
        pass(size);
        return {from, static_cast<std::size_t>(size)};
    }

    // Calls visit(number, type) for each field of a struct; it reads the value or skips it. A truth value is its type.
    template <class Visit> void fields(Visit visit) {
        int64_t number = 0;
        for (uint8_t head = byte(); head != 0; head = byte()) {
            number = head >> 4 ? number + (head >> 4) : integer();
            visit(number, head & 15);
        }
    }

    // Calls visit(type) for each item of a list, which reads it or skips it.
    template <class Visit> void items(Visit visit) {
        const uint8_t head = byte();
        const uint64_t length = head >> 4 == 15 ? unsigned_integer() : head >> 4;
        expect_whole(length <= left(), "a list is longer than the file");
        for (uint64_t k = 0; k < length; ++k) visit(head & 15);
    }

    void skip(int type, int depth = 0) {
        expect_whole(depth < kDeepest, "structs are nested too deeply");
        switch (type) {
            case kTrue:
            case kFalse: return;
            case kByte: return pass(1);
            case kDouble: return pass(8);
            case kBinary: binary(); return;
            case kList:
            case kSet: return items([&](int inner) { inner <= kFalse ? pass(1) : skip(inner, depth + 1); });
            case kStruct: return fields([&](int64_t, int inner) { skip(inner, depth + 1); });
            case 4:
            case 5:
            case 6: unsigned_integer(); return;
            default: throw Damaged("a field has a type that no part of Parquet has");
        }
    }

private:
    static constexpr int kDeepest = 16;

    uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }

    void pass(uint64_t n_bytes) {
        expect_whole(n_bytes <= left(), "the description ends too early");
        at_ += n_bytes;
    }

    uint8_t byte() {
        pass(1);
        return static_cast<uint8_t>(at_[-1]);
    }

    uint64_t unsigned_integer() {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const uint8_t part = byte();
            value |= static_cast<uint64_t>(part & 0x7F) << shift;
            if (!(part & 0x80)) return value;
        }
        throw Damaged("an integer does not end");
    }

    const char *begin_, *at_, *end_;
};

}  // namespace bayeswise::tables::parquet
