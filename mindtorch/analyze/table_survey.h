// TableSurvey: the properties of all rows that must be known before the first line of a table is written.
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
  // The sum of device work, without the spans of annotations. Host rows of torch's legacy profiler count as the device work that they
  // launched.
  std::int64_t self_device_ns = 0;
  std::int64_t calls = 0;

  void add(const Average& row);
};

// torch's width of a text column: that of the longest text, up to the limit. Throws InvalidArgument if the limit is negative.
std::size_t column_width(std::size_t longest, const std::optional<std::int64_t>& limit);

}  // namespace mindtorch::analyze
