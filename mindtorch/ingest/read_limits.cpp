// Limits of memory.
#include "mindtorch/ingest/read_limits.h"

#include "mindtorch/base/error.h"

namespace mindtorch::ingest {

std::uint64_t default_memory(std::uint64_t file_size, FileKind kind) {
  switch (kind) {
    case FileKind::kPlain: return kSpareMemory + kMemoryPerPlainByte * file_size;
    case FileKind::kGzip: return kSpareMemory + kMemoryPerGzipByte * file_size;
    case FileKind::kRecording: return kSpareMemory + kMemoryPerRecordingByte * file_size;
  }
  return kSpareMemory;
}

std::uint64_t memory_limit(const ReadOptions& options, std::uint64_t file_size, FileKind kind) {
  return options.max_memory != 0 ? options.max_memory : default_memory(file_size, kind);
}

void throw_needs_memory(std::string_view where, const std::string& path, std::uint64_t limit, const MemoryPlace& place) {
  throw_error(where,
              "reading '{}' needs more than {} bytes of memory from byte {} of the {} on, for {}; ReadOptions::max_memory (mtprof: "
              "--max-memory) allows more",
              path, limit, place.offset, place.of, place.purpose);
}

void throw_out_of_memory(std::string_view where, const std::string& path) {
  throw_error(where, "this machine has not enough memory to read '{}'", path);
}

}  // namespace mindtorch::ingest
