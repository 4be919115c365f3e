// The memory that a reader may take, and the errors of files that need more.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "mindtorch/ingest/read_options.h"
#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest {

// The limit that `options` set for a file.
std::uint64_t memory_limit(const ReadOptions& options, std::uint64_t file_size, FileKind kind);

// How far a reader got before it would have needed more memory than it may take, and what it needs the memory for.
struct MemoryPlace {
  std::uint64_t offset = 0;
  std::string_view of;       // what the offset counts the bytes of: "file", or "text" of a compressed file
  std::string_view purpose;  // "its events"
};

// A BudgetExceeded whose place is known.
class NeedsMemory : public trace::BudgetExceeded {
 public:
  explicit NeedsMemory(const MemoryPlace& place) : place_(place) {}
  const MemoryPlace& place() const { return place_; }

 private:
  MemoryPlace place_;
};

// Throws the Error of a file that needs more memory than it may take.
[[noreturn]] void throw_needs_memory(std::string_view where, const std::string& path, std::uint64_t limit, const MemoryPlace& place);

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
