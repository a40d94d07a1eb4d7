#include "tables/parquet/reader.hpp"

#include <algorithm>
#include <cstring>

#include "common/require.hpp"
#include "tables/parquet/compact.hpp"
#include "tables/short_texts.hpp"

namespace bayeswise::tables::parquet {

namespace {

using Owners = std::vector<std::shared_ptr<const void>>;

// A text in 16 bytes, as Arrow writes it: its length, then itself, or its first bytes and where all of it lies.
struct TextCell {
    uint32_t length = 0;
    char rest[12] = {};

    static TextCell of(std::string_view text, const char* base) {
        TextCell cell;
        cell.length = static_cast<uint32_t>(text.size());
        if (text.size() <= kLongestShortText) {
            std::memcpy(cell.rest, text.data(), text.size());
            return cell;
        }
        const auto offset = static_cast<int32_t>(text.data() - base);
        std::memcpy(cell.rest, text.data(), 4);
        std::memcpy(cell.rest + 8, &offset, 4);
        return cell;
    }
    bool is_long() const { return length > kLongestShortText; }
    void set_buffer(int32_t buffer) { std::memcpy(rest + 4, &buffer, 4); }
};

// The next of the texts that lie one after the other, each behind its length.
std::string_view next_text(std::string_view& values) {
    uint32_t length;
    expect_whole(values.size() >= 4, "a text ends too early");
    std::memcpy(&length, values.data(), sizeof length);
    expect_whole(length <= values.size() - 4, "a text ends too early");
    const std::string_view text = values.substr(4, length);
    values.remove_prefix(4 + length);
    return text;
}

// An array of a batch, and what it lies in.
struct Built {
    ArrowField field;
    ArrowArray array{};
    ArrowArray dictionary{};
    std::vector<const void*> buffers, dictionary_buffers;
    Owners owners;
};

// All arrays of a batch; ArrowBatch lets go of it through the array of the table.
struct OwnedBatch {
    std::vector<Built> columns;
    std::vector<ArrowArray*> children;
    const void* validity = nullptr;
};

// Bytes from a column of a matrix to the next: not a multiple of what a cache is wide.
std::size_t column_step(int64_t n_rows) {
    return (static_cast<std::size_t>(n_rows) * sizeof(double) + 4095) / 4096 * 4096 + 192;
}

char* aligned(char* place) {
    return place + (alignof(double) - reinterpret_cast<std::uintptr_t>(place) % alignof(double)) % alignof(double);
}

constexpr std::size_t kLargestGroup = std::size_t{1} << 28;

void release(ArrowArray* table) {
    delete static_cast<OwnedBatch*>(table->private_data);
    table->release = nullptr;
}

}  // namespace

// Decodes a column, some rows at a time.
class ColumnDecoder {
public:
    ColumnDecoder(const FileColumn& column, Bytes file, Scratch& scratch)
        : column_(column), pages_(column, file, scratch) {}

    void begin(const ColumnChunk& chunk, std::shared_ptr<Buffer> buffer, char* place) {
        pages_.begin(chunk, std::move(buffer), place);
        texts_.clear();
        texts_of_ = nullptr;
    }

    // Whether the next rows lie where begin() expects them.
    bool is_in_place(int64_t n_rows) {
        Page& page = pages_.current();
        return page.is_in_place && page.has_all(n_rows);
    }

    // Numbers of 64 bits are written to `place`, if there is one.
    void take(int64_t n_rows, Built& built, char* place) {
        built_ = &built;
        n_rows_ = n_rows;
        place_ = place;
        validity_.clear();
        n_missing_ = 0;
        built.field.format = column_.format;
        switch (column_.physical) {
            case Physical::boolean: return take_booleans();
            case Physical::int32:
            case Physical::real32: return take_numbers<uint32_t>();
            case Physical::int64: return take_numbers<uint64_t>();
            case Physical::real64: built.field.missing_is_nan = true; return take_numbers<uint64_t>(kNaN);
            default: return take_texts();
        }
    }

private:
    // Calls decode(page, cells, n) for rows of one page at a time, which fills the cells of those with a value; then
    // they move to their rows.
    template <class Cell, class Decode>
    void fill(Cell* out, int64_t first, int64_t n_rows, Decode decode, Cell missing = {}) {
        for (int64_t done = first; done < first + n_rows;) {
            Page& page = pages_.current();
            const int64_t n = std::min(first + n_rows - done, page.n_rows - page.row);
            const int64_t n_present = page.take_levels(present_, n);
            Cell* cells = out + done;
            decode(page, cells, n_present);
            page.value += n_present;
            page.row += n;
            if (n_present < n) spread(cells, done, n, n_present, missing);
            done += n;
        }
    }

    template <class Cell> void spread(Cell* cells, int64_t first, int64_t n, int64_t n_present, Cell missing) {
        if (validity_.empty()) validity_.assign(static_cast<std::size_t>((n_rows_ + 7) / 8), 0xFF);
        n_missing_ += n - n_present;
        for (int64_t row = n - 1; row >= 0; --row) {
            if (present_[static_cast<std::size_t>(row)]) {
                cells[row] = cells[--n_present];
            } else {
                cells[row] = missing;
                validity_[static_cast<std::size_t>((first + row) >> 3)] &=
                    static_cast<uint8_t>(~(1u << ((first + row) & 7)));
            }
        }
    }

    template <class Cell> Cell* room(int64_t n) {
        auto buffer = cells_.take(static_cast<std::size_t>(n) * sizeof(Cell));
        built_->owners.push_back(buffer);
        return reinterpret_cast<Cell*>(buffer->data());
    }

    // The array of the column: its buffers are the validity and these.
    void finish(std::initializer_list<const void*> buffers) {
        const void* validity = nullptr;
        if (n_missing_ > 0) {
            auto owned = std::make_shared<std::vector<uint8_t>>(std::move(validity_));
            validity = owned->data();
            built_->owners.push_back(std::move(owned));
        }
        built_->buffers.assign(1, validity);
        built_->buffers.insert(built_->buffers.end(), buffers);
        describe(built_->array, built_->buffers, n_rows_, n_missing_);
    }

    static void describe(ArrowArray& array, std::vector<const void*>& buffers, int64_t length, int64_t n_missing) {
        array.length = length;
        array.null_count = n_missing;
        array.n_buffers = static_cast<int64_t>(buffers.size());
        array.buffers = buffers.data();
    }

    // -- numbers ----------------------------------------------------------------------------------------------
    template <class Cell> void take_numbers(Cell missing = {}) {
        if (!place_ && take_page<Cell>()) return;
        Cell* out = place_ ? reinterpret_cast<Cell*>(place_) : room<Cell>(n_rows_);
        const auto decode = [&](Page& page, Cell* cells, int64_t n) { decode_numbers(page, cells, n); };
        fill(out, 0, n_rows_, decode, missing);
        finish({out});
    }

    // The rows as they lie in a page, if all of them do; otherwise the answer is false, and nothing is taken.
    template <class Cell> bool take_page() {
        Page& page = pages_.current();
        const int64_t size = sizeof(Cell), begin = page.value * size;
        if (page.is_coded || n_rows_ > page.n_rows - page.row || !page.take_levels_if_all(n_rows_)) return false;
        expect_whole(begin + n_rows_ * size <= static_cast<int64_t>(page.values.size()), kShort);
        built_->owners.push_back(page.buffer);
        page.value += n_rows_;
        page.row += n_rows_;
        finish({page.values.data() + begin});
        return true;
    }

    template <class Cell> void decode_numbers(Page& page, Cell* cells, int64_t n) {
        if (!page.is_coded) {
            const auto begin = static_cast<std::size_t>(page.value) * sizeof(Cell), size = sizeof(Cell) * n;
            expect_whole(begin + size <= page.values.size(), kShort);
            std::memcpy(cells, page.values.data() + begin, size);
            return;
        }
        const Dictionary& dictionary = *pages_.dictionary;
        expect_whole(sizeof(Cell) * static_cast<std::size_t>(dictionary.size) <= dictionary.values.size(), kShort);
        take_codes(page, n);
        for (int64_t k = 0; k < n; ++k)
            std::memcpy(cells + k, dictionary.values.data() + sizeof(Cell) * codes_[k], sizeof(Cell));
    }

    void take_codes(Page& page, int64_t n) {
        codes_.resize(static_cast<std::size_t>(std::max(n, static_cast<int64_t>(codes_.size()))));
        page.codes.take(codes_.data(), n);
        check_codes(codes_.data(), n);
    }

    void check_codes(const int32_t* codes, int64_t n) const {
        const auto size = static_cast<uint32_t>(std::min<int64_t>(pages_.dictionary->size, INT32_MAX));
        bool all_known = true;
        for (int64_t k = 0; k < n; ++k) all_known &= static_cast<uint32_t>(codes[k]) < size;
        expect_whole(all_known, "a code has no entry in its dictionary");
    }

    // -- truth values -----------------------------------------------------------------------------------------
    void take_booleans() {
        flags_.resize(static_cast<std::size_t>(n_rows_));
        fill(flags_.data(), 0, n_rows_, [&](Page& page, uint8_t* cells, int64_t n) {
            if (page.is_coded) {
                expect_whole(page.is_run_length, "truth values have a dictionary");
                codes_.resize(static_cast<std::size_t>(std::max(n, static_cast<int64_t>(codes_.size()))));
                page.codes.take(codes_.data(), n);
                for (int64_t k = 0; k < n; ++k) cells[k] = codes_[k] != 0;
                return;
            }
            expect_whole(page.value + n <= 8 * static_cast<int64_t>(page.values.size()), kShort);
            for (int64_t k = 0, bit = page.value; k < n; ++k, ++bit)
                cells[k] = (static_cast<uint8_t>(page.values[bit >> 3]) >> (bit & 7)) & 1;
        });
        auto* bits = room<uint8_t>((n_rows_ + 7) / 8);
        std::fill_n(bits, (n_rows_ + 7) / 8, uint8_t{0});
        for (int64_t row = 0; row < n_rows_; ++row) bits[row >> 3] |= static_cast<uint8_t>(flags_[row] << (row & 7));
        finish({bits});
    }

    // -- texts ------------------------------------------------------------------------------------------------
    // As codes if they are stored so and the dictionary is small; otherwise each text by itself.
    void take_texts() {
        Page& page = pages_.current();
        int64_t n_coded = 0;
        const int32_t* codes = nullptr;
        if (page.is_coded && pages_.dictionary->size <= std::max<int64_t>(kFewTexts, n_rows_ / 8)) {
            auto* out = room<int32_t>(n_rows_);
            codes = out;
            while (n_coded < n_rows_ && pages_.current().is_coded) {
                const int64_t n = std::min(n_rows_ - n_coded, pages_.current().n_rows - pages_.current().row);
                fill(out, n_coded, n, [&](Page& from, int32_t* cells, int64_t n_present) {
                    from.codes.take(cells, n_present);
                    check_codes(cells, n_present);
                });
                n_coded += n;
            }
            if (n_coded == n_rows_) return finish_codes(out);
        }
        auto* out = room<TextCell>(n_rows_);
        text_buffers_.clear();
        if (n_coded > 0) {
            const std::vector<TextCell>& texts = dictionary_texts();
            const int32_t buffer = text_buffer(pages_.dictionary->buffer);
            for (int64_t row = 0; row < n_coded; ++row)  // a missing one has the code 0, which may have no text
                out[row] = texts.empty() ? TextCell{} : in_buffer(texts[static_cast<std::size_t>(codes[row])], buffer);
        }
        fill(out, n_coded, n_rows_ - n_coded,
             [&](Page& from, TextCell* cells, int64_t n) { decode_texts(from, cells, n); });
        finish({out});
        built_->buffers.insert(built_->buffers.end(), text_buffers_.begin(), text_buffers_.end());
        describe(built_->array, built_->buffers, n_rows_, n_missing_);
    }

    void finish_codes(const int32_t* codes) {
        const std::vector<TextCell>& texts = dictionary_texts();
        auto entries = std::make_shared<std::vector<TextCell>>(texts);
        built_->field.format = "i";
        built_->field.dictionary = std::make_shared<ArrowField>();
        built_->field.dictionary->format = column_.format;
        built_->dictionary_buffers = {nullptr, entries->data(), pages_.dictionary->buffer->data()};
        describe(built_->dictionary, built_->dictionary_buffers, static_cast<int64_t>(entries->size()), 0);
        built_->owners.push_back(entries);
        built_->owners.push_back(pages_.dictionary->buffer);
        finish({codes});
    }

    void decode_texts(Page& page, TextCell* cells, int64_t n) {
        if (page.is_coded) {
            take_codes(page, n);
            const std::vector<TextCell>& texts = dictionary_texts();
            const int32_t buffer = text_buffer(pages_.dictionary->buffer);
            for (int64_t k = 0; k < n; ++k) cells[k] = in_buffer(texts[static_cast<std::size_t>(codes_[k])], buffer);
            return;
        }
        const int32_t buffer = text_buffer(page.buffer);
        for (int64_t k = 0; k < n; ++k)
            cells[k] = in_buffer(TextCell::of(next_text(page.values), page.buffer->data()), buffer);
    }

    static TextCell in_buffer(TextCell cell, int32_t buffer) {
        if (cell.is_long()) cell.set_buffer(buffer);
        return cell;
    }

    // The number of a buffer among those of the batch.
    int32_t text_buffer(const std::shared_ptr<Buffer>& buffer) {
        if (text_buffers_.empty() || text_buffers_.back() != buffer->data()) {
            text_buffers_.push_back(buffer->data());
            built_->owners.push_back(buffer);
        }
        return static_cast<int32_t>(text_buffers_.size() - 1);
    }

    const std::vector<TextCell>& dictionary_texts() {
        const Dictionary& dictionary = *pages_.dictionary;
        if (texts_of_ == pages_.dictionary) return texts_;
        texts_.clear();
        std::string_view values = dictionary.values;
        for (int64_t k = 0; k < dictionary.size; ++k)
            texts_.push_back(TextCell::of(next_text(values), dictionary.buffer->data()));
        texts_of_ = pages_.dictionary;
        return texts_;
    }

    static constexpr const char* kShort = "a page has fewer cells than it says";
    static constexpr int64_t kFewTexts = 256;
    static constexpr uint64_t kNaN = 0x7FF8000000000000;

    const FileColumn& column_;
    Pages pages_;
    Buffers cells_;
    Built* built_ = nullptr;
    char* place_ = nullptr;
    int64_t n_rows_ = 0, n_missing_ = 0;
    std::vector<uint8_t> validity_, flags_;
    std::vector<int32_t> present_, codes_;
    std::vector<TextCell> texts_;
    std::shared_ptr<const Dictionary> texts_of_;
    std::vector<const void*> text_buffers_;
};

Reader::Reader(std::shared_ptr<const Footer> footer, int descriptor, std::vector<std::size_t> columns,
               int64_t batch_rows)
    : footer_(std::move(footer)), columns_(std::move(columns)), batch_rows_(batch_rows) {
    require(footer_->is_decodable, "the file is stored in a way that is not read here");
    require(batch_rows_ > 0, "a batch has rows");
    for (const std::size_t column : columns_) {
        require(column < footer_->columns.size(), "no such column");
        n_reals_ += footer_->columns[column].physical == Physical::real64 ? 1 : 0;
        decoders_.push_back(std::make_unique<ColumnDecoder>(footer_->columns[column], Bytes(descriptor), scratch_));
    }
}

Reader::~Reader() = default;

bool Reader::is_real(std::size_t k) const { return footer_->columns[columns_[k]].physical == Physical::real64; }

// Numbers of a group that fits into memory anyway are unpacked side by side, as far as pages allow it.
void Reader::begin(const RowGroup& group) {
    const std::size_t step = column_step(group.n_rows);
    const bool is_small = n_reals_ > 0 && n_reals_ <= kLargestGroup / step;
    const auto buffer = is_small ? groups_.take(n_reals_ * step + 2 * Pages::kRoomBefore) : nullptr;
    char* place = is_small ? aligned(buffer->data() + Pages::kRoomBefore) : nullptr;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
        const bool is_placed = is_small && is_real(k);
        decoders_[k]->begin(group.chunks[columns_[k]], is_placed ? buffer : nullptr, is_placed ? place : nullptr);
        if (is_placed) place += step;
    }
}

bool Reader::are_in_place(int64_t n_rows) {
    for (std::size_t k = 0; k < columns_.size(); ++k)
        if (is_real(k) && !decoders_[k]->is_in_place(n_rows)) return false;
    return true;
}

std::shared_ptr<ArrowBatch> Reader::next() {
    while (group_ < footer_->groups.size() && row_ == footer_->groups[group_].n_rows) ++group_, row_ = 0;
    if (group_ == footer_->groups.size()) return nullptr;
    const RowGroup& group = footer_->groups[group_];
    const int64_t n_rows = std::min(batch_rows_, group.n_rows - row_);
    auto owned = std::make_unique<OwnedBatch>();
    owned->columns.resize(columns_.size());
    auto fields = std::make_shared<std::vector<ArrowField>>();
    if (row_ == 0) begin(group);
    const auto reals = n_reals_ > 0 && !are_in_place(n_rows) ? matrices_.take(n_reals_ * column_step(n_rows)) : nullptr;
    char* place = reals ? reals->data() : nullptr;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
        Built& built = owned->columns[k];
        const bool is_placed = reals && is_real(k);
        decoders_[k]->take(n_rows, built, is_placed ? place : nullptr);
        if (is_placed) {
            place += column_step(n_rows);
            built.owners.push_back(reals);
        }
        if (built.field.dictionary) built.array.dictionary = &built.dictionary;
        owned->children.push_back(&built.array);
        fields->push_back(built.field);
    }
    row_ += n_rows;
    ArrowArray table{};
    table.length = n_rows;
    table.n_buffers = 1;
    table.buffers = &owned->validity;
    table.n_children = static_cast<int64_t>(owned->children.size());
    table.children = owned->children.data();
    table.release = &release;
    table.private_data = owned.release();
    return std::make_shared<ArrowBatch>(std::move(fields), table);
}

}  // namespace bayeswise::tables::parquet
