// The file format of captured CUPTI activity: written on a machine with a GPU (capture/), replayed by the double of libcupti.
// A file is a sequence of chunks: a ChunkHead, then `bytes` bytes. All numbers are little endian. Pointers to kernel names in raw records
// are replaced by one plus the name's offset in the chunk of strings, because addresses mean nothing in another process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cupti_capture {

constexpr std::uint32_t tag(const char (&name)[5]) {
  return static_cast<std::uint32_t>(name[0]) | static_cast<std::uint32_t>(name[1]) << 8 | static_cast<std::uint32_t>(name[2]) << 16 |
         static_cast<std::uint32_t>(name[3]) << 24;
}

struct ChunkHead {
  std::uint32_t tag = 0;
  std::uint32_t bytes = 0;
};

// Which library wrote the records, and how its clock stood to CLOCK_REALTIME.
inline constexpr std::uint32_t kOrigin = tag("ORIG");
struct Origin {
  std::uint32_t cupti_version = 0;
  std::uint32_t process_id = 0;
  std::uint64_t realtime_before = 0;
  std::uint64_t cupti_timestamp = 0;
  std::uint64_t realtime_after = 0;
};

// NUL-terminated strings, one after the other.
inline constexpr std::uint32_t kStrings = tag("STRS");

// An array of these: the names of the runtime and driver functions that the records mention.
inline constexpr std::uint32_t kFunctions = tag("FUNC");
struct FunctionName {
  std::uint32_t domain = 0;
  std::uint32_t callback_id = 0;
  std::uint32_t name = 0;  // one plus the offset in the strings
};

// An array of these: the resource callbacks of graphs and their nodes, in the order in which they came.
inline constexpr std::uint32_t kGraphCallbacks = tag("GRPH");
struct GraphCallback {
  std::uint32_t callback_id = 0;
  std::uint32_t thread_id = 0;
  std::uint32_t graph = 0;
  std::uint32_t original_graph = 0;
  std::uint32_t graph_exec = 0;
  std::int32_t node_type = 0;
  std::uint64_t node = 0;
  std::uint64_t original_node = 0;
  std::uint64_t realtime = 0;
};

// One activity buffer as the library delivered it.
inline constexpr std::uint32_t kBuffer = tag("BUFF");

// Where the pointer to its name lies in a record of a kernel.
inline constexpr std::size_t kKernelNameOffset = 104;

}  // namespace cupti_capture
