// Groups rows by a text that holds everything that must be equal.
#include "mindtorch/analyze/row_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace mindtorch::analyze {
namespace {

// Returns the key by which torch groups rows. A control character separates its parts.
std::string group_key(const Average& row, const GroupOptions& options) {
  std::string key = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", row.key, row.node_id, static_cast<int>(row.device_type), row.is_legacy,
                                row.is_user_annotation, row.op_device ? static_cast<int>(row.op_device->type) : -1);
  if (options.group_by_overload_name) key += '\x1f' + row.overload_name;
  if (options.group_by_input_shape && row.input_shapes) key += '\x1f' + shapes_text(*row.input_shapes);
  if (options.group_by_stack_n > 0) key += fmt::format("\x1f{}", fmt::join(row.stack, "\n"));
  return key;
}

Average without_unasked(Average row, const GroupOptions& options) {
  const auto frames = static_cast<std::size_t>(std::max<std::int64_t>(0, options.group_by_stack_n));
  if (row.stack.size() > frames) row.stack.resize(frames);
  if (!options.group_by_input_shape) row.input_shapes.reset();
  if (!options.group_by_overload_name) row.overload_name.clear();
  return row;
}

}  // namespace

RowGroups group_rows(const TableRows& rows, const GroupOptions& options) {
  RowGroups groups;
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

}  // namespace mindtorch::analyze
