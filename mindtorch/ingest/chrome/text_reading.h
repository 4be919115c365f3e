// From the text of a Chrome trace to one TracePart: side by side where it is whole, around the damage where it is not.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mindtorch/ingest/chrome/trace_part.h"

namespace mindtorch::ingest::chrome {

struct TextLimits {
  bool keep_flows = false;  // also collect the ends of arrows
  bool times_only = false;  // step over stacks, the inputs of ops, and attributes other than these
  std::span<const std::string_view> attributes;
  std::uint64_t max_memory = 0;  // bytes that the part and its making may take
  unsigned threads = 0;          // most that parse side by side; 0: one per processor, at most eight
};

// What cannot be parsed is left out, counted and named in `damage`. Throws NeedsMemory.
TracePart read_text(std::string_view text, const TextLimits& limits);

}  // namespace mindtorch::ingest::chrome
