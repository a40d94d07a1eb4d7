// Some columns of a Parquet file, as batches of Arrow arrays; columns of doubles are those of one matrix.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "tables/arrow/stream.hpp"
#include "tables/parquet/pages.hpp"

namespace bayeswise::tables::parquet {

class ColumnDecoder;

class Reader {
public:
    // Batches have at most so many rows, all of one group. The file stays open for as long as batches are read.
    Reader(std::shared_ptr<const Footer> footer, int descriptor, std::vector<std::size_t> columns, int64_t batch_rows);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The next rows, or null at the end; throws Damaged.
    std::shared_ptr<ArrowBatch> next();

private:
    bool is_real(std::size_t k) const;  // a column of doubles
    void begin(const RowGroup& group);
    bool are_in_place(int64_t n_rows);

    std::shared_ptr<const Footer> footer_;
    std::vector<std::size_t> columns_;
    std::vector<std::unique_ptr<ColumnDecoder>> decoders_;
    Scratch scratch_;
    Buffers groups_, matrices_;
    std::size_t n_reals_ = 0;  // columns of doubles
    int64_t batch_rows_;
    std::size_t group_ = 0;
    int64_t row_ = 0;  // of the group
};

}  // namespace bayeswise::tables::parquet
