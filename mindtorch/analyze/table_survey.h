// TableSurvey: what has to be known of all rows before the first line of a table is written.
#pragma once

#include <cstdint>
#include <optional>

#include "mindtorch/analyze/average.h"

namespace mindtorch::analyze {

struct TableSurvey {
  bool has_device_time = false;
  bool has_device_memory = false;
  bool has_shapes = false;
  bool has_overloads = false;
  bool has_stacks = false;
  bool has_nodes = false;
  std::size_t longest_key = 0;  // in code points, as the others
  std::size_t longest_shapes = 0;
  std::size_t longest_frame = 0;
  std::int64_t smallest_flops = 0;  // of those above 0
  std::int64_t self_cpu_ns = 0;
  // Work on devices; the spans of annotations are none. Host rows of torch's legacy profiler stand for the device work they launched.
  std::int64_t self_device_ns = 0;
  std::int64_t calls = 0;

  void add(const Average& row);
};

// torch's width of a column of text: room for the longest, up to the limit if there is one. Throws InvalidArgument if that is negative.
std::size_t column_width(std::size_t longest, const std::optional<std::int64_t>& limit);

}  // namespace mindtorch::analyze
