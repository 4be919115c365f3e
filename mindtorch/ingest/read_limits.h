// The memory that a reader may take, and the errors of files that need more.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/ingest/read_options.h"

namespace mindtorch::ingest {

// The limit that `options` set for a file.
std::uint64_t memory_limit(const ReadOptions& options, std::uint64_t file_size, FileKind kind);

// Throws the Error of a file that needs more memory than it may take; `offset` is how far the reader got, if it knows.
[[noreturn]] void throw_needs_memory(std::string_view where, const std::string& path, std::uint64_t limit,
                                     std::optional<std::uint64_t> offset = std::nullopt);

// Throws the Error of a file for which the machine has not enough memory.
[[noreturn]] void throw_out_of_memory(std::string_view where, const std::string& path);

// What read() returns. Where the machine runs out of memory, the error names the file.
template <class Read>
auto naming_file(std::string_view where, const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(where, path);
  }
}

}  // namespace mindtorch::ingest
