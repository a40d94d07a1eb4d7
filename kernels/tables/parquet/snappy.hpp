// The format that most writers of Parquet compress pages with: literals and copies of what came before.
// https://github.com/google/snappy/blob/main/format_description.txt
#pragma once
#include <cstddef>
#include <string_view>

namespace bayeswise::tables::parquet {

// Fills `size` bytes at `to`; throws Damaged for bytes that are not so many.
void unpack_snappy(std::string_view packed, char* to, std::size_t size);

}  // namespace bayeswise::tables::parquet
