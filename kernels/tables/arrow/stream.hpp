// The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html) and a reader for it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tables/cells.hpp"

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

}  // extern "C"

namespace bayeswise::tables {

constexpr int64_t kArrowDictionaryOrdered = 1;

// One format string is one way to store cells.
struct ArrowField {
    std::string name;
    std::string format;
    std::string storage;                     // storage_of(format), or that of the values
    std::shared_ptr<ArrowField> dictionary;  // the format of the values, if the cells are codes
    bool ordered = false;
    bool missing_is_nan = false;  // whether cells of doubles that are missing hold NaN
};

// What a format string stands for, in the words of bayeswise.tables.source.
std::string storage_of(const std::string& format);

class ArrowBatch : public std::enable_shared_from_this<ArrowBatch> {
public:
    ArrowBatch(std::shared_ptr<const std::vector<ArrowField>> fields, ArrowArray array);
    ~ArrowBatch();
    ArrowBatch(const ArrowBatch&) = delete;
    ArrowBatch& operator=(const ArrowBatch&) = delete;

    int64_t n_rows() const { return array_.length; }
    std::size_t n_columns() const { return fields_->size(); }
    std::unique_ptr<Column> column(std::size_t index, int64_t begin, int64_t n_rows) const;
    std::shared_ptr<const std::vector<Value>> dictionary(std::size_t index) const;
    // Columns of doubles that are those of a matrix already, or null: the first of its cells, and the step in doubles
    // from a column to the next.
    const double* matrix(const std::vector<std::size_t>& columns, int64_t begin, int64_t& column_step) const;

private:
    std::shared_ptr<const std::vector<ArrowField>> fields_;
    ArrowArray array_;
    mutable std::map<std::size_t, std::shared_ptr<const std::vector<Value>>> dictionaries_;
    mutable std::mutex mutex_;
};

class ArrowStream {
public:
    explicit ArrowStream(ArrowArrayStream* stream);  // takes the stream over
    ~ArrowStream();
    ArrowStream(const ArrowStream&) = delete;
    ArrowStream& operator=(const ArrowStream&) = delete;

    const std::vector<ArrowField>& fields() const { return *fields_; }
    std::shared_ptr<ArrowBatch> next();  // null at the end
    void close();

private:
    std::string last_error(int code);

    ArrowArrayStream stream_;
    std::shared_ptr<const std::vector<ArrowField>> fields_;
};

}  // namespace bayeswise::tables
