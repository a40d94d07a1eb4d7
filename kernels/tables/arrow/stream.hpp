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
    std::string storage;                     // in the words of bayeswise.tables.source
    std::shared_ptr<ArrowField> dictionary;  // the format of the values, if the cells are codes
    bool ordered = false;
};

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
