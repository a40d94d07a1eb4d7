// Splitting a block of a text file into records and fields.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tables/cells.hpp"
#include "tables/short_texts.hpp"

namespace bayeswise::tables {

struct Dialect {
    char delimiter = ',';
    char quote = '"';
    bool skip_space = false;  // blanks after a delimiter are not part of the field
};

enum class Flaw : uint8_t { none, ragged, after_quote, open_quote, encoding };

// Where a field begins and ends, in one word: one store when splitting, one load when reading.
struct Field {
    uint64_t bounds;
    std::size_t begin() const { return bounds & 0xFFFFFFFF; }
    std::size_t end() const { return bounds >> 32; }
};

// Whole records of one block: where their fields begin and end, and which lines they begin on.
struct CsvBlock {
    std::string data;
    Dialect dialect;
    std::size_t n_columns = 0;
    std::vector<Field> fields;   // (n_rows, n_columns)
    std::vector<int64_t> lines;  // (n_rows)
    std::size_t consumed = 0;    // bytes of whole records
    int64_t next_line = 1;

    Flaw flaw = Flaw::none;  // what stopped the splitting, if anything
    int64_t flaw_line = 0;
    std::size_t flaw_fields = 0;

    int64_t n_rows() const { return static_cast<int64_t>(lines.size()); }
};

// With n_columns = 0 the first record decides. An incomplete record at the end is left for the next block, unless this is
// the last one.
std::shared_ptr<CsvBlock> split_csv(std::string_view carried, std::string_view fresh, const Dialect& dialect,
                                    std::size_t n_columns, int64_t first_line, bool last, std::size_t most_rows);

struct CsvView {
    const CsvBlock* block;
    std::size_t column;
    int64_t begin, n_rows;

    template <class Sink> void visit(Sink& sink) const {
        std::string scratch;
        const std::size_t n = block->n_columns;
        const char* data = block->data.data();
        Texts<Sink> texts(sink, n_rows);
        for (int64_t row = 0; row < n_rows; ++row) {
            const Field field = block->fields[static_cast<std::size_t>(begin + row) * n + column];
            const std::string_view text = unquoted({data + field.begin(), field.end() - field.begin()}, scratch);
            if (texts.remembers() && text.size() <= kLongestShortText && text.data() != scratch.data() &&
                field.begin() + 1 + kLongestShortText <= block->data.size())  // one for a quote
                texts.show(row, ShortText::of(text));
            else
                texts.show(row, text);
        }
        texts.finish();
    }
    std::string_view unquoted(std::string_view field, std::string& scratch) const {
        const bool quoted = field.size() >= 2 && block->dialect.quote != 0 && field.front() == block->dialect.quote;
        return quoted ? without_quotes(field, block->dialect.quote, scratch) : field;
    }
    static std::string_view without_quotes(std::string_view field, char quote, std::string& scratch);
};

}  // namespace bayeswise::tables
