// The pages of a column of a Parquet file, one after the other: unpacked, with the cells that are there.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tables/parquet/footer.hpp"

namespace bayeswise::tables::parquet {

// Bytes that are not set to anything, and are used again once nobody else holds them.
class Buffer {
public:
    explicit Buffer(std::size_t size) : data_(new char[size]), size_(size) {}
    char* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

private:
    std::unique_ptr<char[]> data_;
    std::size_t size_;
};

class Buffers {
public:
    // One of at least so many bytes.
    std::shared_ptr<Buffer> take(std::size_t size);

private:
    std::vector<std::shared_ptr<Buffer>> kept_;
};

// An open file, read at any position.
class Bytes {
public:
    explicit Bytes(int descriptor) : descriptor_(descriptor) {}
    // Fills `size` bytes from a place on; the answer is how many there were.
    std::size_t read(int64_t place, char* to, std::size_t size) const;

private:
    int descriptor_;
};

// Runs of one value, and of values packed into a few bits each.
class Hybrid {
public:
    Hybrid() = default;
    Hybrid(std::string_view bytes, int bits) : at_(bytes.data()), end_(at_ + bytes.size()), bits_(bits) {}

    // Fills the next n values; throws Damaged where there are not so many.
    void take(int32_t* out, int64_t n);
    // A run of one value from here on: its length, at most n, and the value. 0 if packed values come next.
    int64_t run(int64_t n, int32_t& value);
    // Whether the next n values are one run of this one.
    bool is_run(int64_t n, int32_t value);

private:
    void begin_run();
    uint32_t packed_value();
    void take_packed(int32_t* out, int64_t n);

    const char *at_ = nullptr, *end_ = nullptr;
    int bits_ = 0;
    int64_t left_ = 0;  // values of the run
    bool is_packed_ = false;
    int32_t value_ = 0;
    const char* packed_ = nullptr;
    int64_t bit_ = 0;
};

// A page whose rows are read from front to back.
struct Page {
    std::shared_ptr<Buffer> buffer;         // what the values lie in
    bool is_in_place = false;               // whether the values lie where the reader of the column expects them
    std::shared_ptr<Buffer> levels_buffer;  // where they lie apart
    std::string_view values;                // unless they are codes
    int64_t n_rows = 0, row = 0;            // how many there are, and how many of them have been read
    int64_t value = 0;                      // how many of those held a value
    bool is_coded = false, has_levels = false;
    bool is_run_length = false;  // codes are the values themselves
    Hybrid codes, levels;        // levels are 1 for each row that holds a value, 0 for the others

    // Which of the next n rows hold a value; the answer is how many, and nothing is filled if all do.
    int64_t take_levels(std::vector<int32_t>& present, int64_t n);
    // The same where it is seen at once that all do; otherwise the answer is false, and nothing is taken.
    bool take_levels_if_all(int64_t n);
    // Whether the next n rows are in this page, and all of them hold a value.
    bool has_all(int64_t n) { return n <= n_rows - row && (!has_levels || levels.is_run(n, 1)); }
};

// The entries that codes stand for.
struct Dictionary {
    std::shared_ptr<Buffer> buffer;
    std::string_view values;
    int64_t size = 0;
};

// Where packed pages are read to, of all columns in turn: they are needed until they are unpacked.
using Scratch = std::shared_ptr<Buffer>;

class Pages {
public:
    static constexpr std::size_t kRoomBefore = 64;

    Pages(const FileColumn& column, Bytes file, Scratch& scratch) : column_(column), file_(file), scratch_(scratch) {}

    // If the whole chunk is one packed page of numbers, they are unpacked to `place`, which is aligned; before it are
    // kRoomBefore bytes that are free as well.
    void begin(const ColumnChunk& chunk, std::shared_ptr<Buffer> buffer = nullptr, char* place = nullptr);
    // The page that holds the next row of the chunk.
    Page& current();

    std::shared_ptr<const Dictionary> dictionary;  // of the chunk, once there is one

private:
    struct Header;

    void read_next();
    Header read_header();
    void make_room(std::size_t size);
    std::string_view packed_page(const Header& header, std::size_t n_before);
    std::shared_ptr<Buffer> unpacked(std::string_view packed, std::size_t size);
    void read_dictionary(const Header& header);
    void read_rows(const Header& header);
    void read_values(const Header& header, std::string_view values);
    std::size_t likely_levels(const Header& header) const;

    const FileColumn& column_;
    Bytes file_;
    Scratch& scratch_;
    ColumnChunk chunk_;
    std::shared_ptr<Buffer> place_buffer_;
    char* place_in_buffer_ = nullptr;
    int64_t place_ = 0;   // where the next page begins
    int64_t n_left_ = 0;  // rows of the chunk that no page has shown yet
    Page page_;
    Buffers buffers_;
    std::shared_ptr<Buffer> packed_;     // the page that is being read
    std::size_t likely_size_ = 1 << 16;  // of a page with its header
    std::size_t n_packed_ = 0;           // bytes of packed_ that were read from place_ on
};

}  // namespace bayeswise::tables::parquet
