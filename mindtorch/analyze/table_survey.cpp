// Gathering lengths and sums of rows.
#include "mindtorch/analyze/table_survey.h"

#include <algorithm>

#include "mindtorch/analyze/text_width.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {

void TableSurvey::add(const Average& row) {
  has_device_time |= row.self_device_time_total_ns > 0;
  has_device_memory |= row.self_device_memory_usage > 0;
  has_shapes |= row.input_shapes && !row.input_shapes->empty();
  has_overloads |= !row.overload_name.empty();
  has_stacks |= !row.stack.empty();
  has_nodes |= row.node_id != -1;
  longest_key = std::max(longest_key, text_length(valid_utf8(row.key)));
  if (row.input_shapes) longest_shapes = std::max(longest_shapes, shapes_text(*row.input_shapes).size());
  for (const std::string& frame : row.stack) longest_frame = std::max(longest_frame, text_length(valid_utf8(frame)));
  if (row.flops > 0) smallest_flops = smallest_flops == 0 ? row.flops : std::min(smallest_flops, row.flops);
  self_cpu_ns += row.self_cpu_time_total_ns;
  const bool is_device_work = row.device_type == trace::DeviceType::kCpu ? row.is_legacy : !row.is_user_annotation;
  if (is_device_work) self_device_ns += row.self_device_time_total_ns;
  calls += row.count;
}

std::size_t column_width(std::size_t longest, const std::optional<std::int64_t>& limit) {
  const auto wanted = static_cast<std::int64_t>(longest) + 4;
  const std::int64_t width = limit ? std::min(wanted, *limit) : wanted;
  if (width < 0) throw_error<InvalidArgument>("analyze.table", "a column cannot be {} wide", width);
  return static_cast<std::size_t>(width);
}

}  // namespace mindtorch::analyze
