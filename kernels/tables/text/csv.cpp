#include "tables/text/csv.hpp"

#include <cstring>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define BAYESWISE_SSE2 1
#endif

namespace bayeswise::tables {

namespace {

// The positions of delimiters, quotes and line ends, in order, found 64 bytes at a time.
class Marks {
public:
    Marks(const char* data, std::size_t size, const Dialect& dialect) : data_(data), size_(size), dialect_(dialect) {
        if (dialect_.quote == 0) dialect_.quote = dialect_.delimiter;
        load(0);
    }

    std::size_t next() {
        while (mask_ == 0) {
            if (window_ + 64 >= size_) return size_;
            load(window_ + 64);
        }
        const std::size_t position = window_ + static_cast<std::size_t>(bits::lowest(mask_));
        mask_ &= mask_ - 1;
        return position;
    }
    bool plain_ascii() const { return !high_bits_; }

private:
    bool is_mark(char c) const { return c == dialect_.delimiter || c == '\n' || c == '\r' || c == dialect_.quote; }

    void load(std::size_t window) {
        window_ = window;
        mask_ = 0;
#if BAYESWISE_SSE2
        if (window + 64 <= size_) {
            const __m128i delimiter = _mm_set1_epi8(dialect_.delimiter), quote = _mm_set1_epi8(dialect_.quote);
            const __m128i feed = _mm_set1_epi8('\n'), carriage = _mm_set1_epi8('\r');
            for (int i = 0; i < 4; ++i) {
                const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data_ + window + 16 * i));
                const __m128i hits =
                    _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, delimiter), _mm_cmpeq_epi8(bytes, feed)),
                                 _mm_or_si128(_mm_cmpeq_epi8(bytes, carriage), _mm_cmpeq_epi8(bytes, quote)));
                mask_ |= static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(hits))) << (16 * i);
                high_bits_ |= _mm_movemask_epi8(bytes) != 0;
            }
            return;
        }
#endif
        for (std::size_t i = window; i < size_ && i < window + 64; ++i) {
            if (is_mark(data_[i])) mask_ |= uint64_t{1} << (i - window);
            high_bits_ |= (data_[i] & 0x80) != 0;
        }
    }

    const char* data_;
    std::size_t size_;
    Dialect dialect_;
    std::size_t window_ = 0;
    uint64_t mask_ = 0;
    bool high_bits_ = false;
};

// The position of the first byte that is not UTF-8, or the size.
std::size_t utf8_until(std::string_view s) {
    std::size_t i = 0;
    const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
    const auto tail = [&](std::size_t k) { return (byte(k) & 0xC0) == 0x80; };
    while (i < s.size()) {
        const unsigned c = byte(i), second = byte(i + 1);
        if (c < 0x80)
            i += 1;
        else if (c >= 0xC2 && c < 0xE0 && tail(i + 1))
            i += 2;
        else if ((c & 0xF0) == 0xE0 && tail(i + 1) && tail(i + 2) && !(c == 0xE0 && second < 0xA0) &&
                 !(c == 0xED && second > 0x9F))
            i += 3;
        else if (c >= 0xF0 && c < 0xF5 && tail(i + 1) && tail(i + 2) && tail(i + 3) && !(c == 0xF0 && second < 0x90) &&
                 !(c == 0xF4 && second > 0x8F))
            i += 4;
        else
            return i;
    }
    return i;
}

// One pass over the marks of a block.
class Splitter {
public:
    Splitter(CsvBlock& block, bool last, std::size_t most_rows)
        : b_(block), data_(block.data.data()), size_(block.data.size()), last_(last), most_rows_(most_rows),
          marks_(data_, size_, block.dialect), line_(block.next_line) {
        start_record(0);
    }

    void run() {
        while (b_.flaw == Flaw::none && b_.lines.size() < most_rows_) {
            const std::size_t at = marks_.next();
            if (at >= size_) return finish();
            const char c = data_[at];
            if (quoted_ && !closed_)
                inside_quotes(at, c);
            else if (c == b_.dialect.quote)
                open_quote(at);
            else if (c == b_.dialect.delimiter) {
                end_field(at);
                start_field(at + 1);
            } else if (!end_line(at, c))
                return;
        }
    }
    bool plain_ascii() const { return marks_.plain_ascii(); }

private:
    void start_field(std::size_t at) {
        if (b_.dialect.skip_space)
            while (at < size_ && data_[at] == ' ') ++at;
        begin_ = at;
        quoted_ = closed_ = false;
    }
    void start_record(std::size_t at) {
        b_.consumed = record_ = at;
        b_.next_line = record_line_ = line_;
        n_fields_ = 0;
        start_field(at);
    }
    void open_quote(std::size_t at) {
        if (at == begin_) {
            quoted_ = true;
            quote_line_ = line_;
        }
    }
    void inside_quotes(std::size_t at, char c) {
        if (at == doubled_) return;
        if (c == b_.dialect.quote) {
            if (at + 1 < size_ && data_[at + 1] == c)
                doubled_ = at + 1;
            else if (at + 1 < size_ || last_) {
                closed_ = true;
                close_ = at;
            } else
                return;  // the next block tells whether the quote is doubled
        } else if (c == '\n' || (c == '\r' && !(at + 1 < size_ && data_[at + 1] == '\n'))) {
            ++line_;
        }
    }
    void end_field(std::size_t at) {
        std::size_t end = at < begin_ ? begin_ : at;
        if (quoted_) {
            for (std::size_t i = close_ + 1; i < end; ++i)
                if (data_[i] != ' ' && data_[i] != '\t') return flaw(Flaw::after_quote, quote_line_);
            end = close_ + 1;
        }
        b_.fields.push_back({begin_ | static_cast<uint64_t>(end) << 32});
        ++n_fields_;
    }
    // False when the block ends between a carriage return and the line feed that may follow it.
    bool end_line(std::size_t at, char c) {
        std::size_t next = at + 1;
        if (c == '\r') {
            if (next == size_ && !last_) return false;
            if (next < size_ && data_[next] == '\n') {
                marks_.next();
                ++next;
            }
        }
        end_field(at);
        end_record(at);
        ++line_;
        if (b_.flaw == Flaw::none) start_record(next);
        return true;
    }
    void end_record(std::size_t at) {
        if (b_.flaw != Flaw::none) return;
        const bool blank = n_fields_ == 1 && trimmed({data_ + record_, at - record_}).empty();
        if (b_.n_columns == 0 && !blank) b_.n_columns = n_fields_;
        if (blank && b_.n_columns != 1) return drop_record();
        if (n_fields_ != b_.n_columns) return flaw(Flaw::ragged, record_line_);
        b_.lines.push_back(record_line_);
    }
    void finish() {
        if (!last_ || record_ == size_) return drop_record();
        if (quoted_ && !closed_) return flaw(Flaw::open_quote, quote_line_);
        end_field(size_);
        end_record(size_);
        if (b_.flaw == Flaw::none) {
            b_.consumed = size_;
            b_.next_line = line_ + 1;
        }
    }
    void drop_record() { b_.fields.resize(b_.lines.size() * b_.n_columns); }
    void flaw(Flaw what, int64_t line) {
        b_.flaw = what;
        b_.flaw_line = line;
        b_.flaw_fields = n_fields_;
        drop_record();
    }

    CsvBlock& b_;
    const char* data_;
    std::size_t size_;
    bool last_;
    std::size_t most_rows_;
    Marks marks_;
    int64_t line_, record_line_ = 1, quote_line_ = 1;
    std::size_t record_ = 0, begin_ = 0, close_ = 0, n_fields_ = 0;
    std::size_t doubled_ = static_cast<std::size_t>(-1);
    bool quoted_ = false, closed_ = false;
};

void check_encoding(CsvBlock& block) {
    const std::string_view records(block.data.data(), block.consumed);
    const std::size_t good = utf8_until(records);
    if (good == records.size()) return;
    std::size_t row = block.lines.size();
    while (row > 0 && block.fields[(row - 1) * block.n_columns].begin() > good) --row;
    block.flaw = Flaw::encoding;
    block.flaw_line = row > 0 ? block.lines[row - 1] : 1;
}

}  // namespace

std::shared_ptr<CsvBlock> split_csv(std::string_view carried, std::string_view fresh, const Dialect& dialect,
                                    std::size_t n_columns, int64_t first_line, bool last, std::size_t most_rows) {
    auto block = std::make_shared<CsvBlock>();
    block->data.reserve(carried.size() + fresh.size());
    block->data.append(carried).append(fresh);
    block->dialect = dialect;
    block->n_columns = n_columns;
    block->next_line = first_line;
    block->fields.reserve(block->data.size() / 8);
    Splitter splitter(*block, last, most_rows);
    splitter.run();
    if (block->flaw == Flaw::none && !splitter.plain_ascii()) check_encoding(*block);
    return block;
}

std::string_view CsvView::without_quotes(std::string_view field, char quote, std::string& scratch) {
    field = field.substr(1, field.size() - 2);
    if (field.find(quote) == std::string_view::npos) return field;
    scratch.clear();
    for (std::size_t i = 0; i < field.size(); ++i) {
        scratch.push_back(field[i]);
        if (field[i] == quote) ++i;
    }
    return scratch;
}

}  // namespace bayeswise::tables
