#include "tables/parquet/snappy.hpp"

#include <cstdint>
#include <cstring>

#include "tables/parquet/compact.hpp"

namespace bayeswise::tables::parquet {

namespace {

uint32_t little_endian(const char* from, int n_bytes) {
    uint32_t value = 0;
    for (int k = 0; k < n_bytes; ++k) value |= static_cast<uint32_t>(static_cast<uint8_t>(from[k])) << (8 * k);
    return value;
}

std::size_t stated_size(const char*& at, const char* end) {
    uint64_t value = 0;
    for (int shift = 0; shift < 35 && at < end; shift += 7) {
        const auto part = static_cast<uint8_t>(*at++);
        value |= static_cast<uint64_t>(part & 0x7F) << shift;
        if (!(part & 0x80)) return static_cast<std::size_t>(value);
    }
    throw Damaged("a compressed page does not say its size");
}

constexpr const char* kBroken = "a compressed page is damaged";
constexpr std::size_t kAtOnce = 16;  // bytes that are copied where there is room for them, needed or not

}  // namespace

void unpack_snappy(std::string_view packed, char* to, std::size_t size) {
    const char *at = packed.data(), *end = at + packed.size();
    expect_whole(stated_size(at, end) == size, kBroken);
    char *const begin = to, *const last = to + size;
    while (at < end) {
        const auto tag = static_cast<uint8_t>(*at++);
        const auto here = static_cast<std::size_t>(end - at), room = static_cast<std::size_t>(last - to);
        if ((tag & 3) == 0) {
            std::size_t length = tag >> 2;
            if (length < 60) {
                ++length;
                if (length <= kAtOnce && here >= kAtOnce && room >= kAtOnce) {
                    std::memcpy(to, at, kAtOnce);
                    at += length, to += length;
                    continue;
                }
            } else {
                const int n_bytes = static_cast<int>(length) - 59;
                expect_whole(here >= static_cast<std::size_t>(n_bytes), kBroken);
                length = static_cast<std::size_t>(little_endian(at, n_bytes)) + 1;
                at += n_bytes;
            }
            expect_whole(length <= static_cast<std::size_t>(end - at) && length <= room, kBroken);
            std::memcpy(to, at, length);
            at += length, to += length;
            continue;
        }
        const int n_bytes = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
        expect_whole(here >= static_cast<std::size_t>(n_bytes), kBroken);
        std::size_t length = (tag >> 2) + 1, distance = little_endian(at, n_bytes);
        at += n_bytes;
        if (n_bytes == 1) {
            length = ((tag >> 2) & 7) + 4;
            distance |= static_cast<std::size_t>(tag >> 5) << 8;
        }
        expect_whole(distance > 0 && distance <= static_cast<std::size_t>(to - begin) && length <= room, kBroken);
        const char* from = to - distance;
        if (distance >= kAtOnce && room >= length + kAtOnce) {
            for (std::size_t done = 0; done < length; done += kAtOnce) std::memcpy(to + done, from + done, kAtOnce);
        } else {
            for (std::size_t k = 0; k < length; ++k) to[k] = from[k];
        }
        to += length;
    }
    expect_whole(to == last, kBroken);
}

}  // namespace bayeswise::tables::parquet
