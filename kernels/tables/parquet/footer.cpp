#include "tables/parquet/footer.hpp"

#include <optional>
#include <utility>

#include "tables/parquet/compact.hpp"

namespace bayeswise::tables::parquet {

namespace {

// A node of the schema as it is written; none for what is not said.
struct Node {
    std::string name;
    std::optional<int64_t> physical, repetition, n_children, converted, logical;
    std::optional<int64_t> unit, bits;       // of a timestamp, of an integer
    bool is_utc = false, is_signed = false;  // likewise
};

void read_logical(Compact& from, Node& node) {
    from.fields([&](int64_t which, int type) {
        node.logical = which;
        if (which != 8 && which != 10) return from.skip(type);
        from.fields([&](int64_t field, int inner) {
            if (which == 8 && field == 1) {
                node.is_utc = inner == Compact::kTrue;
            } else if (which == 8 && field == 2) {
                from.fields([&](int64_t unit, int empty) {
                    node.unit = unit;
                    from.skip(empty);
                });
            } else if (which == 10 && field == 1) {
                node.bits = from.one_byte();
            } else if (which == 10 && field == 2) {
                node.is_signed = inner == Compact::kTrue;
            } else {
                from.skip(inner);
            }
        });
    });
}

Node read_node(Compact& from) {
    Node node;
    from.fields([&](int64_t field, int type) {
        switch (field) {
            case 1: node.physical = from.integer(); break;
            case 3: node.repetition = from.integer(); break;
            case 4: node.name = from.binary(); break;
            case 5: node.n_children = from.integer(); break;
            case 6: node.converted = from.integer(); break;
            case 10: read_logical(from, node); break;
            default: from.skip(type);
        }
    });
    return node;
}

constexpr int64_t kUtf8 = 0, kDate = 6, kMicroseconds = 10;  // converted types
constexpr int64_t kUint8 = 11, kUint32 = 13, kUint64 = 14, kInt8 = 15, kInt64 = 18;
constexpr int64_t kString = 1, kLogicalDate = 6, kTimestamp = 8, kInteger = 10;  // logical types
constexpr int64_t kOfMicroseconds = 2;

// 'i' for whatever fits into 32 bits, since cells are stored so.
std::string integer_format(const Node& node, bool is_wide) {
    if (!node.converted && !node.logical) return is_wide ? "l" : "i";
    if (node.logical && *node.logical != kInteger) return "";
    if (!node.converted) {
        const int64_t bits = node.bits.value_or(0);
        if (is_wide) return bits != 64 ? "" : node.is_signed ? "l" : "L";
        return bits != 8 && bits != 16 && bits != 32 ? "" : node.is_signed || bits < 32 ? "i" : "I";
    }
    const int64_t kind = *node.converted;
    if (is_wide) return kind == kInt64 ? "l" : kind == kUint64 ? "L" : "";
    if (kind == kUint32) return "I";
    return kind >= kUint8 && kind < kInt64 && kind != kUint64 ? "i" : "";
}

bool is(const Node& node, int64_t converted, int64_t logical) {
    if (node.converted && *node.converted != converted) return false;
    if (node.logical && *node.logical != logical) return false;
    return node.converted || node.logical;
}

std::string format_of(const Node& node) {
    const bool is_flat = node.n_children.value_or(0) == 0 && node.repetition.value_or(2) < 2;
    if (!is_flat || !node.physical) return "";
    const bool is_plain = !node.converted && !node.logical;
    switch (static_cast<Physical>(*node.physical)) {
        case Physical::boolean: return is_plain ? "b" : "";
        case Physical::real32: return is_plain ? "f" : "";
        case Physical::real64: return is_plain ? "g" : "";
        case Physical::int32: return is(node, kDate, kLogicalDate) ? "tdD" : integer_format(node, false);
        case Physical::int64:
            if (!is(node, kMicroseconds, kTimestamp)) return integer_format(node, true);
            return node.logical && (node.is_utc || node.unit != kOfMicroseconds) ? "" : "tsu:";
        case Physical::bytes:
            return node.converted == kUtf8 || (!node.converted && node.logical == kString) ? "vu" : "";
        default: return "";
    }
}

bool is_known_encoding(int64_t encoding) {
    return encoding == 0 || encoding == 2 || encoding == 3 || encoding == 4 || encoding == 8;
}

// Of one chunk; false if it is not stored as this reader knows it.
bool read_meta(Compact& from, const FileColumn& column, ColumnChunk& chunk) {
    bool is_known = true;
    int64_t physical = -1, data_page = 0, dictionary_page = 0, codec = -1;
    from.fields([&](int64_t field, int type) {
        switch (field) {
            case 1: physical = from.integer(); break;
            case 2: from.items([&](int) { is_known &= is_known_encoding(from.integer()); }); break;
            case 4: codec = from.integer(); break;
            case 5: chunk.n_values = from.integer(); break;
            case 7: chunk.n_bytes = from.integer(); break;
            case 9: data_page = from.integer(); break;
            case 11: dictionary_page = from.integer(); break;
            default: from.skip(type);
        }
    });
    chunk.begin = dictionary_page > 0 && dictionary_page < data_page ? dictionary_page : data_page;
    chunk.codec = static_cast<Codec>(codec);
    return is_known && chunk.begin >= 4 && physical == static_cast<int64_t>(column.physical) &&
           (chunk.codec == Codec::plain || chunk.codec == Codec::snappy);
}

}  // namespace

Footer::Footer(std::string_view bytes) {
    Compact from(bytes);
    const auto read_chunk = [&](RowGroup& group) {
        expect_whole(group.chunks.size() < columns.size(), "a group of rows has too many columns");
        ColumnChunk chunk;
        bool has_meta = false;
        from.fields([&](int64_t field, int type) {
            if (field == 3) {
                is_decodable &= read_meta(from, columns[group.chunks.size()], chunk);
                has_meta = true;
            } else {
                if (field == 1 || field == 8) is_decodable = false;  // in another file, or encrypted
                from.skip(type);
            }
        });
        is_decodable &= has_meta;
        group.chunks.push_back(chunk);
    };
    const auto read_group = [&] {
        RowGroup group;
        from.fields([&](int64_t field, int type) {
            if (field == 1)
                from.items([&](int) { read_chunk(group); });
            else if (field == 3)
                group.n_rows = from.integer();
            else
                from.skip(type);
        });
        is_decodable &= group.chunks.size() == columns.size() && group.n_rows >= 0;
        for (const ColumnChunk& chunk : group.chunks) is_decodable &= chunk.n_values == group.n_rows;
        groups.push_back(std::move(group));
    };
    bool is_root = true;
    from.fields([&](int64_t field, int type) {
        switch (field) {
            case 2:
                from.items([&](int) {
                    const Node node = read_node(from);
                    if (std::exchange(is_root, false)) return;
                    const auto physical = static_cast<Physical>(node.physical.value_or(-1));
                    columns.push_back({node.name, physical, node.repetition == 1, format_of(node)});
                    has_known_types &= !columns.back().format.empty();
                });
                break;
            case 3: n_rows = from.integer(); break;
            case 4: from.items([&](int) { read_group(); }); break;
            default:
                if (field == 8) is_decodable = false;  // encrypted
                from.skip(type);
        }
    });
    int64_t in_groups = 0;
    for (const RowGroup& group : groups) in_groups += is_decodable ? group.n_rows : 0;
    is_decodable &= has_known_types && in_groups == n_rows && !columns.empty();
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    is_decodable = false;  // numbers in pages are little-endian
#endif
}

int64_t Footer::row_bytes() const {
    int64_t sum = 0;
    for (const FileColumn& column : columns) switch (column.physical) {
            case Physical::boolean: sum += 1; break;
            case Physical::int32:
            case Physical::real32: sum += 4; break;
            case Physical::bytes: sum += 16; break;
            default: sum += 8;
        }
    return sum;
}

}  // namespace bayeswise::tables::parquet
