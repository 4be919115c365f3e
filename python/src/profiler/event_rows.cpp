// Rows from sequences and lists, and what key_averages() does with a list.
#include "python/src/profiler/event_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "python/src/profiler/average_row.h"
#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {
namespace {

using analyze::Average;

// What makes two rows one, as torch has it; a control character keeps the parts apart.
std::string group_key(const Average& row, const analyze::GroupOptions& options) {
  std::string key = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", row.key, row.node_id, static_cast<int>(row.device_type), row.is_legacy,
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

analyze::TableRows table_rows(const EventSequence& events) {
  return {events.size(), [&events](std::size_t i) { return events[i].as_row(); }, "events", "FunctionEvent"};
}

analyze::TableRows table_rows(nb::handle list) {
  const std::size_t size = nb::len(list);
  const bool of_events = size > 0 && !nb::isinstance<AverageRow>(list[0]);
  return {size, [list](std::size_t i) { return row_of(list[i]); }, of_events ? "events" : "keys",
          of_events ? "FunctionEvent" : "FunctionEventAvg"};
}

analyze::KeyAverages as_averages(const analyze::TableRows& rows, const analyze::TableContext& context) {
  analyze::KeyAverages averages{{}, context};
  averages.rows.reserve(rows.size);
  for (std::size_t i = 0; i < rows.size; ++i) averages.rows.push_back(rows.row(i));
  return averages;
}

Groups group_rows(const analyze::TableRows& rows, const analyze::GroupOptions& options) {
  Groups groups;
  std::vector<Average>& averages = groups.averages.rows;
  std::unordered_map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < rows.size; ++i) {
    Average row = without_unasked(rows.row(i), options);
    const auto [at, is_new] = position.try_emplace(group_key(row, options), averages.size());
    if (is_new) {
      averages.push_back(std::move(row));
      groups.first.push_back(i);
    } else {
      averages[at->second].add_sums(row);
    }
  }
  return groups;
}

}  // namespace mindtorch::python
