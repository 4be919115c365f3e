// A Recording as a file (suffix .mtrec): versioned, in checksummed zstd chunks, readable up to any damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Writes the file whole or not at all. Throws IoError; InvalidArgument if the recording breaks an invariant.
void save(const Recording& recording, const std::string& path, int zstd_level = 1);

struct LoadResult {
  Recording recording;
  // Set if the file is truncated or corrupt: what is wrong and at which byte. The recording then holds everything before the damage, and a
  // Loss of reason kDamagedFile.
  std::optional<std::string> damage;
  std::uint64_t damage_offset = 0;
};

// Reads what save() or a spilling session wrote. Throws IoError if the file cannot be read, InvalidArgument if it is not such a file or of
// a newer major version.
LoadResult load(const std::string& path);

// As load(), of a file that is in memory already; `path` is for messages.
LoadResult load_bytes(std::string_view bytes, const std::string& path);

// True if the file starts like one of ours, false if it does not or cannot be read.
bool is_recording_file(const std::string& path);

}  // namespace mindtorch::trace
