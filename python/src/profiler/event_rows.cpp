// Rows from sequences and lists, and what key_averages() does with a list.
#include "python/src/profiler/event_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "python/src/profiler/average_row.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {
namespace {

using analyze::Average;

// What makes two rows one, as torch has it; a control character keeps the parts apart.
std::string group_key(const Average& row, const analyze::GroupOptions& options) {
  std::string key = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", row.key, row.node_id, static_cast<int>(row.device_type),
                                row.is_user_annotation, row.op_device ? static_cast<int>(row.op_device->type) : -1);
  if (options.group_by_overload_name) key += '\x1f' + row.overload_name;
  if (options.group_by_input_shape && row.input_shapes) key += '\x1f' + analyze::shapes_text(*row.input_shapes);
  if (options.group_by_stack_n > 0) key += fmt::format("\x1f{}", fmt::join(row.stack, "\n"));
  return key;
}

Average without_unasked(Average row, const analyze::GroupOptions& options) {
  const auto frames = static_cast<std::size_t>(std::max<std::int64_t>(0, options.group_by_stack_n));
  if (row.stack.size() > frames) row.stack.resize(frames);
  if (!options.group_by_input_shape) row.input_shapes.reset();
  if (!options.group_by_overload_name) row.overload_name.clear();
  return row;
}

}  // namespace

analyze::TableRows table_rows(nb::handle rows) {
  if (nb::isinstance<EventSequence>(rows)) {
    const EventSequence& events = nb::cast<const EventSequence&>(rows);
    return {events.size(), [&events](std::size_t i) { return events[i].as_row(); }, "events", "FunctionEvent"};
  }
  const std::size_t size = nb::len(rows);
  const bool of_events = size > 0 && nb::isinstance<EventHandle>(rows[0]);
  return {size, [rows](std::size_t i) { return row_of(rows[i]); }, of_events ? "events" : "keys",
          of_events ? "FunctionEvent" : "FunctionEventAvg"};
}

analyze::KeyAverages as_averages(nb::handle rows, const analyze::TableContext& context) {
  analyze::KeyAverages averages{{}, context};
  const analyze::TableRows source = table_rows(rows);
  averages.rows.reserve(source.size);
  for (std::size_t i = 0; i < source.size; ++i) averages.rows.push_back(source.row(i));
  return averages;
}

analyze::KeyAverages group_rows(const analyze::TableRows& rows, const analyze::GroupOptions& options) {
  analyze::KeyAverages averages;
  std::unordered_map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < rows.size; ++i) {
    Average row = without_unasked(rows.row(i), options);
    const auto [at, is_new] = position.try_emplace(group_key(row, options), averages.rows.size());
    if (is_new)
      averages.rows.push_back(std::move(row));
    else
      averages.rows[at->second].add_sums(row);
  }
  return averages;
}

}  // namespace mindtorch::python
