#include "tables/parquet/pages.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include "tables/parquet/compact.hpp"
#include "tables/parquet/snappy.hpp"

namespace bayeswise::tables::parquet {

namespace {

enum PageType : int64_t { kDataPage = 0, kDictionaryPage = 2, kDataPageV2 = 3 };
enum Encoding : int64_t { kPlain = 0, kPlainDictionary = 2, kRunLength = 3, kRunLengthDictionary = 8 };

constexpr std::size_t kLongestHeader = 1 << 24;  // it may hold the least and the largest text of a page
constexpr int64_t kShortestRead = 256;
constexpr std::size_t kMostUnpacked = 32;  // times as large as packed, and a little

int32_t little_endian(std::string_view bytes) {
    expect_whole(bytes.size() >= 4, "a page ends too early");
    int32_t value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

// The bytes that come after their length, which are taken off the front.
std::string_view counted(std::string_view& bytes) {
    const int32_t size = little_endian(bytes);
    bytes.remove_prefix(4);
    expect_whole(size >= 0 && static_cast<std::size_t>(size) <= bytes.size(), "a page ends too early");
    const std::string_view front = bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(front.size());
    return front;
}

}  // namespace

std::shared_ptr<Buffer> Buffers::take(std::size_t size) {
    std::shared_ptr<Buffer>* free = nullptr;
    for (auto& each : kept_)
        if (each.use_count() == 1 && (!free || each->size() > (*free)->size())) free = &each;
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever held it may have been another thread
    const std::size_t room = size + size / 8;
    if (!free) {
        kept_.push_back(std::make_shared<Buffer>(room));
        return kept_.back();
    }
    if ((*free)->size() < size) *free = std::make_shared<Buffer>(room);
    return *free;
}

std::size_t Bytes::read(int64_t place, char* to, std::size_t size) const {
    std::size_t done = 0;
    while (done < size) {
#ifdef _WIN32
        if (_lseeki64(descriptor_, place + static_cast<int64_t>(done), SEEK_SET) < 0) break;
        const auto part = static_cast<unsigned>(std::min<std::size_t>(size - done, 1 << 30));
        const int64_t n = _read(descriptor_, to + done, part);
#else
        const int64_t n = ::pread(descriptor_, to + done, size - done, place + static_cast<int64_t>(done));
        if (n < 0 && errno == EINTR) continue;
#endif
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

// -- runs ----------------------------------------------------------------------------------------------------
void Hybrid::begin_run() {
    uint64_t head = 0;
    for (int shift = 0;; shift += 7) {
        expect_whole(at_ < end_ && shift < 35, "codes end too early");
        const auto part = static_cast<uint8_t>(*at_++);
        head |= static_cast<uint64_t>(part & 0x7F) << shift;
        if (!(part & 0x80)) break;
    }
    is_packed_ = head & 1;
    left_ = static_cast<int64_t>(head >> 1);
    const auto room = static_cast<std::size_t>(end_ - at_);
    if (is_packed_) {
        // The last group of eight may be cut off behind the last value.
        const std::size_t n_bytes = std::min(room, static_cast<std::size_t>(left_) * static_cast<std::size_t>(bits_));
        left_ = bits_ == 0 ? 8 * left_ : static_cast<int64_t>(8 * n_bytes / static_cast<std::size_t>(bits_));
        packed_ = at_;
        bit_ = 0;
        at_ += n_bytes;
        return;
    }
    const auto n_bytes = static_cast<std::size_t>((bits_ + 7) / 8);
    expect_whole(room >= n_bytes, "codes end too early");
    uint32_t value = 0;
    std::memcpy(&value, at_, n_bytes);
    value_ = static_cast<int32_t>(value);
    at_ += n_bytes;
}

uint32_t Hybrid::packed_value() {
    uint64_t word = 0;
    const char* from = packed_ + (bit_ >> 3);
    if (end_ - from >= 8)
        std::memcpy(&word, from, 8);
    else
        std::memcpy(&word, from, static_cast<std::size_t>(end_ - from));
    const auto value = static_cast<uint32_t>((word >> (bit_ & 7)) & ((uint64_t{1} << bits_) - 1));
    bit_ += bits_;
    return value;
}

// Eight values at a time where they fit into a word, which begins with a byte.
void Hybrid::take_packed(int32_t* out, int64_t n) {
    int64_t k = 0;
    for (; k < n && (bit_ & 7) != 0; ++k) out[k] = static_cast<int32_t>(packed_value());
    const uint64_t mask = (uint64_t{1} << bits_) - 1;
    for (const char* from = packed_ + (bit_ >> 3); bits_ <= 8 && k + 8 <= n && end_ - from >= 8;
         k += 8, from += bits_) {
        uint64_t word;
        std::memcpy(&word, from, 8);
        for (int value = 0; value < 8; ++value) out[k + value] = static_cast<int32_t>(word >> (value * bits_) & mask);
        bit_ += 8 * bits_;
    }
    for (; k < n; ++k) out[k] = static_cast<int32_t>(packed_value());
}

int64_t Hybrid::run(int64_t n, int32_t& value) {
    while (left_ == 0) begin_run();
    if (is_packed_) return 0;
    const int64_t length = std::min(n, left_);
    left_ -= length;
    value = value_;
    return length;
}

bool Hybrid::is_run(int64_t n, int32_t value) {
    while (left_ == 0) begin_run();
    return !is_packed_ && left_ >= n && value_ == value;
}

void Hybrid::take(int32_t* out, int64_t n) {
    while (n > 0) {
        int32_t value;
        int64_t length = run(n, value);
        if (length > 0) {
            std::fill_n(out, length, value);
        } else {
            length = std::min(n, left_);
            take_packed(out, length);
            left_ -= length;
        }
        out += length;
        n -= length;
    }
}

int64_t Page::take_levels(std::vector<int32_t>& present, int64_t n) {
    if (!has_levels || n == 0) return n;
    int32_t value = 1;
    const int64_t length = levels.run(n, value);
    expect_whole(value == 0 || value == 1, "a level is neither 0 nor 1");
    if (length == n && value == 1) return n;
    present.assign(static_cast<std::size_t>(n), value);
    levels.take(present.data() + length, n - length);
    int64_t n_present = 0;
    for (const int32_t level : present) {
        expect_whole(level == 0 || level == 1, "a level is neither 0 nor 1");
        n_present += level;
    }
    return n_present;
}

bool Page::take_levels_if_all(int64_t n) {
    if (!has_levels || n == 0) return true;
    int32_t value;
    return levels.is_run(n, 1) && levels.run(n, value) == n;
}

// -- pages ---------------------------------------------------------------------------------------------------
struct Pages::Header {
    int64_t type = -1, size = -1, packed_size = -1;  // bytes without the header
    int64_t n_values = -1, encoding = -1, level_encoding = kRunLength;
    int64_t n_level_bytes = 0, n_repetition_bytes = 0;  // of the second version, in which they are not packed
    bool is_packed = true;
    std::size_t n_bytes = 0;  // of the header itself
};

void Pages::begin(const ColumnChunk& chunk, std::shared_ptr<Buffer> buffer, char* place) {
    chunk_ = chunk;
    place_buffer_ = std::move(buffer);
    place_in_buffer_ = place;
    place_ = chunk.begin;
    n_left_ = chunk.n_values;
    page_.n_rows = page_.row = 0;
    dictionary = nullptr;
}

Page& Pages::current() {
    while (page_.row == page_.n_rows) read_next();
    return page_;
}

void Pages::read_next() {
    expect_whole(n_left_ > 0, "a column has fewer cells than rows");
    const Header header = read_header();
    expect_whole(header.size >= 0 && header.packed_size >= 0, "a page does not say its size");
    if (header.type == kDictionaryPage)
        read_dictionary(header);
    else if (header.type == kDataPage || header.type == kDataPageV2)
        read_rows(header);
    likely_size_ = header.n_bytes + static_cast<std::size_t>(header.packed_size) + 64;
    place_ += static_cast<int64_t>(header.n_bytes) + header.packed_size;
}

Pages::Header Pages::read_header() {
    const int64_t rest = std::max<int64_t>(chunk_.begin + chunk_.n_bytes - place_, kShortestRead);
    for (auto size = static_cast<std::size_t>(std::min<int64_t>(likely_size_, rest));; size *= 4) {
        n_packed_ = 0;
        make_room(size);
        n_packed_ = file_.read(place_, packed_->data(), size);
        try {
            Header header;
            Compact from({packed_->data(), n_packed_});
            from.fields([&](int64_t field, int type) {
                switch (field) {
                    case 1: header.type = from.integer(); break;
                    case 2: header.size = from.small_integer(); break;
                    case 3: header.packed_size = from.small_integer(); break;
                    case 5:
                        from.fields([&](int64_t inner, int its_type) {
                            switch (inner) {
                                case 1: header.n_values = from.small_integer(); break;
                                case 2: header.encoding = from.integer(); break;
                                case 3: header.level_encoding = from.integer(); break;
                                default: from.skip(its_type);
                            }
                        });
                        break;
                    case 7:
                        from.fields([&](int64_t inner, int its_type) {
                            switch (inner) {
                                case 1: header.n_values = from.small_integer(); break;
                                case 2: header.encoding = from.integer(); break;
                                default: from.skip(its_type);
                            }
                        });
                        break;
                    case 8:
                        from.fields([&](int64_t inner, int its_type) {
                            switch (inner) {
                                case 1: header.n_values = from.small_integer(); break;
                                case 4: header.encoding = from.integer(); break;
                                case 5: header.n_level_bytes = from.small_integer(); break;
                                case 6: header.n_repetition_bytes = from.small_integer(); break;
                                case 7: header.is_packed = its_type == Compact::kTrue; break;
                                default: from.skip(its_type);
                            }
                        });
                        break;
                    default: from.skip(type);
                }
            });
            header.n_bytes = from.n_read();
            return header;
        } catch (const Damaged&) {
            if (n_packed_ < size || size > kLongestHeader) throw;
        }
    }
}

// In the scratch, or in a buffer of its own for a page that is not packed and lives on.
void Pages::make_room(std::size_t size) {
    if (packed_ && packed_->size() >= size && n_packed_ > 0) return;
    auto before = std::exchange(packed_, nullptr);
    if (chunk_.codec == Codec::plain) {
        packed_ = buffers_.take(size);
    } else {
        if (!scratch_ || scratch_->size() < size) scratch_ = std::make_shared<Buffer>(size + size / 8);
        packed_ = scratch_;
    }
    if (n_packed_ > 0) std::memcpy(packed_->data(), before->data(), n_packed_);
}

// The bytes of a page from n_before on, of which the first came with its header.
std::string_view Pages::packed_page(const Header& header, std::size_t n_before) {
    const std::size_t end = header.n_bytes + static_cast<std::size_t>(header.packed_size);
    if (n_packed_ < end) {
        make_room(end);
        const std::size_t n = end - n_packed_;
        expect_whole(file_.read(place_ + static_cast<int64_t>(n_packed_), packed_->data() + n_packed_, n) == n,
                     "the file ends within a page");
        n_packed_ = end;
    }
    expect_whole(header.n_bytes + n_before <= end, "a page ends too early");
    return {packed_->data() + header.n_bytes + n_before, end - header.n_bytes - n_before};
}

std::shared_ptr<Buffer> Pages::unpacked(std::string_view packed, std::size_t size) {
    expect_whole(size / kMostUnpacked <= packed.size() + 64, "a page claims to be much larger than it can be");
    auto buffer = buffers_.take(size);
    unpack_snappy(packed, buffer->data(), size);
    return buffer;
}

void Pages::read_dictionary(const Header& header) {
    expect_whole(header.n_values >= 0 && (header.encoding == kPlain || header.encoding == kPlainDictionary),
                 "a dictionary is written in a way that is not known");
    const std::string_view page = packed_page(header, 0);
    auto found = std::make_shared<Dictionary>();
    const bool is_packed = chunk_.codec == Codec::snappy;
    if (is_packed && header.size > 0) {
        const auto size = static_cast<std::size_t>(header.size);
        found->buffer = unpacked(page, size);
        found->values = {found->buffer->data(), size};
    } else {
        found->buffer = packed_;
        found->values = page;
    }
    found->size = header.n_values;
    dictionary = std::move(found);
}

void Pages::read_rows(const Header& header) {
    expect_whole(header.n_values >= 0 && header.n_values <= n_left_, "a column has more cells than rows");
    n_left_ -= header.n_values;
    page_.n_rows = header.n_values;
    page_.row = page_.value = 0;
    page_.buffer = nullptr;
    page_.has_levels = column_.optional;
    const bool is_second = header.type == kDataPageV2;
    const int64_t n_before = is_second ? header.n_level_bytes : 0;
    expect_whole(n_before >= 0 && n_before <= std::min(header.size, header.packed_size) &&
                     (!is_second || header.n_repetition_bytes == 0),
                 "a page ends too early");
    const auto before = static_cast<std::size_t>(n_before);
    const std::string_view levels = packed_page(header, 0).substr(0, before), page = packed_page(header, before);
    const std::size_t size = static_cast<std::size_t>(header.size) - before;
    page_.levels_buffer = nullptr;
    if (column_.optional && is_second) {  // which are few: the page may be unpacked to somewhere else
        page_.levels_buffer = std::make_shared<Buffer>(before + 1);
        std::memcpy(page_.levels_buffer->data(), levels.data(), before);
        page_.levels = Hybrid({page_.levels_buffer->data(), before}, 1);
    }
    std::string_view values = page;
    page_.is_in_place = false;
    const std::size_t n_levels = likely_levels(header), n_cells = static_cast<std::size_t>(header.n_values) * 8;
    const bool goes_in_place = place_in_buffer_ && header.n_values == chunk_.n_values && header.encoding == kPlain;
    if (chunk_.codec == Codec::snappy && header.is_packed && goes_in_place && size == n_levels + n_cells) {
        page_.buffer = place_buffer_;
        values = {place_in_buffer_ - n_levels, size};
        unpack_snappy(page, place_in_buffer_ - n_levels, size);
    } else if (chunk_.codec == Codec::snappy && header.is_packed && size > 0) {
        page_.buffer = unpacked(page, size);
        values = {page_.buffer->data(), size};
    } else {
        if (chunk_.codec == Codec::snappy) scratch_ = nullptr;  // a page that was left as it is lives on there
        page_.buffer = packed_;
    }
    if (column_.optional && !is_second) {
        expect_whole(header.level_encoding == kRunLength, "levels are written in a way that is not known");
        page_.levels = Hybrid(counted(values), 1);
    }
    page_.is_in_place = goes_in_place && values.data() == place_in_buffer_;
    read_values(header, values);
}

// Bytes of the levels in front of the values, if every row has one: how many they are, and a run of ones.
std::size_t Pages::likely_levels(const Header& header) const {
    if (!column_.optional || header.type == kDataPageV2) return 0;
    std::size_t n_bytes = 4 + 1 + 1;
    for (int64_t head = header.n_values * 2; head > 0x7F; head >>= 7) ++n_bytes;
    return n_bytes;
}

void Pages::read_values(const Header& header, std::string_view values) {
    page_.is_run_length = false;
    page_.is_coded = header.encoding == kPlainDictionary || header.encoding == kRunLengthDictionary;
    page_.values = values;
    if (page_.is_coded) {
        expect_whole(dictionary != nullptr, "codes have no dictionary");
        const bool is_empty = values.empty();  // where every row is missing
        const int bits = is_empty ? 0 : static_cast<uint8_t>(values[0]);
        expect_whole(bits <= 31, "codes are too wide");
        page_.codes = Hybrid(is_empty ? values : values.substr(1), bits);
    } else if (header.encoding == kRunLength && column_.physical == Physical::boolean) {
        page_.is_coded = page_.is_run_length = true;
        page_.codes = Hybrid(counted(values), 1);
    } else {
        expect_whole(header.encoding == kPlain, "a page is written in a way that is not known");
    }
}

}  // namespace bayeswise::tables::parquet
