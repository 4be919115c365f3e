// LoadResult: the content of a recording file up to the first damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

struct LoadResult {
  Recording recording;
  // Set if the file is truncated or corrupt: what is wrong and at which byte. The recording then holds everything before the damage, and a
  // Loss of reason kDamagedFile.
  std::optional<std::string> damage;
  std::uint64_t damage_offset = 0;
};

}  // namespace mindtorch::trace
