// The options of a reader: what it reads, and how much memory it may take.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::ingest {

struct ReadOptions {
  bool check_flows = false;  // Chrome traces: count arrows that lack an end; costs a sort of all arrows
  // Chrome traces: leave out stacks, the inputs of ops and attributes, which are most of a large trace. Calls of c10d keep their inputs,
  // and all events the attributes that `attributes` names.
  bool times_only = false;
  std::span<const std::string_view> attributes;
  // The most bytes of memory that reading may take; 0 stands for default_memory(). kUnlimitedMemory is for files one has written oneself.
  std::uint64_t max_memory = 0;
  unsigned threads = 0;  // Chrome traces: most threads that parse; 0 stands for one per processor, at most eight
};

inline constexpr std::uint64_t kUnlimitedMemory = UINT64_MAX;

// Without another limit, reading takes at most kSpareMemory and so many bytes for each byte of the file. What profilers write needs about
// a tenth of that. A loop that repeats one short scope compresses to less than a byte per event, and its recording needs about a third.
inline constexpr std::uint64_t kSpareMemory = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMemoryPerPlainByte = 64;
inline constexpr std::uint64_t kMemoryPerGzipByte = 256;
inline constexpr std::uint64_t kMemoryPerRecordingByte = 1024;
enum class FileKind { kPlain, kGzip, kRecording };
MINDTORCH_EXPORT std::uint64_t default_memory(std::uint64_t file_size, FileKind kind);

}  // namespace mindtorch::ingest
