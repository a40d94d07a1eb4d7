// What the footer of a Parquet file says of its columns and of where their cells are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bayeswise::tables::parquet {

enum class Physical : int32_t { boolean = 0, int32 = 1, int64 = 2, real32 = 4, real64 = 5, bytes = 6, none = -1 };
enum class Codec : int32_t { plain = 0, snappy = 1 };

struct FileColumn {
    std::string name;
    Physical physical = Physical::none;
    bool optional = false;
    std::string format;  // as Arrow writes it, "vu" for text; empty for what is not read here
};

// The cells of a column in a group of rows.
struct ColumnChunk {
    int64_t begin = 0, n_bytes = 0, n_values = 0;
    Codec codec = Codec::plain;
};

struct RowGroup {
    int64_t n_rows = 0;
    std::vector<ColumnChunk> chunks;  // in the order of columns
};

struct Footer {
    // Throws Damaged for bytes that are not a footer.
    explicit Footer(std::string_view bytes);

    // Bytes of a row of decoded cells, at least.
    int64_t row_bytes() const;

    std::vector<FileColumn> columns;
    std::vector<RowGroup> groups;
    int64_t n_rows = 0;
    bool has_known_types = true;  // nothing but flat columns of numbers, truth values, texts, dates and times
    bool is_decodable = true;     // and stored as this reader knows it
};

}  // namespace bayeswise::tables::parquet
