// The text of a gzip file, as far as it can be decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest {

bool is_gzip(std::string_view bytes);

struct GzipText {
  std::unique_ptr<char[]> text;  // `padding` zero bytes follow it
  std::size_t size = 0;
  // Set if the file is cut or corrupt: what is wrong and at which byte. The text is then what was decompressed before.
  std::optional<std::string> damage;

  std::string_view view() const { return {text.get(), size}; }
};

// Decompresses all members of `bytes`. No size in the file is trusted: memory is taken from `budget` as the text grows. Throws NeedsMemory.
GzipText decompress_gzip(std::string_view bytes, std::size_t padding, trace::MemoryBudget& budget);

// The first bytes of the text, at most `size`: enough to see what kind of text it is without decompressing it all.
std::string gzip_beginning(std::string_view bytes, std::size_t size);

}  // namespace mindtorch::ingest
