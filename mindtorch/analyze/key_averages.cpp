// Key averages: one pass over the columns; only rows hold text.
#include "mindtorch/analyze/key_averages.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/grouping.h"
#include "mindtorch/base/large_pages.h"

namespace mindtorch::analyze {
namespace {

class Averaging {
 public:
  Averaging(const Analysis& analysis, const GroupOptions& options)
      : analysis_(analysis),
        options_(options),
        recording_(analysis.recording()),
        events_(recording_.events),
        tree_(analysis.tree()),
        launches_(analysis.launches()),
        memory_(analysis.memory_use()),
        grouping_(analysis, options) {
    // Most names are one group. Growing step by step would touch twice the memory.
    groups_.reserve(std::min(recording_.names.size(), events_.size()));
    prefer_large_pages(groups_.data(), groups_.capacity() * sizeof(Group));
  }

  std::vector<Average> rows() {
    add_events();
    add_flops();
    if (is_recursion_visible()) leave_out_nested_calls();
    add_memory_reports();
    return rows_in_order();
  }

 private:
  // The sums of a group, and which of its events comes first in torch's order.
  struct Group {
    Sums sums;
    EventIndex first_event;
    std::int64_t first_start;
    std::int64_t first_end;
  };

  void add_events() {
    for (EventIndex i = 0; i < events_.size(); ++i) {
      if (!tree_.is_averaged(i)) continue;
      const std::uint32_t g = grouping_.group_of(i);
      if (g == groups_.size()) groups_.push_back({Sums{}, i, events_.start_ns[i], events_.end_ns(i)});
      add(groups_[g], i);
    }
  }

  void add(Group& group, EventIndex i) {
    const std::int64_t start = events_.start_ns[i], duration = events_.duration_ns[i];
    Sums& sums = group.sums;
    ++sums.count;
    if (start < group.first_start || (start == group.first_start && start + duration > group.first_end)) {
      group.first_start = start;
      group.first_end = start + duration;
      group.first_event = i;
    }
    if (trace::is_device_kind(events_.kind[i])) {
      sums.device_time_total_ns += duration;
      if (events_.kind[i] != trace::EventKind::kSync) sums.self_device_time_total_ns += duration;
      return;
    }
    sums.cpu_time_total_ns += duration;
    if (!tree_.is_node(i)) return;
    sums.self_cpu_time_total_ns += tree_.self_ns(i);
    if (!launches_.empty()) {
      sums.device_time_total_ns += launches_.total_ns(i);
      sums.self_device_time_total_ns += launches_.self_ns(i);
    }
    if (!memory_.empty()) add_memory(sums, memory_.total(i), memory_.self(i));
  }

  static void add_memory(Sums& sums, MemoryDelta total, MemoryDelta self) {
    sums.cpu_memory_usage += total.cpu;
    sums.device_memory_usage += total.device;
    sums.self_cpu_memory_usage += self.cpu;
    sums.self_device_memory_usage += self.device;
  }

  void add_flops() {
    grouping_.rewind();
    for (const auto [event, flops] : analysis_.flops().all()) groups_[grouping_.group_of(event)].sums.flops += flops;
  }

  // The times of a function that calls itself can add up to more than the whole; another pass finds the outermost calls only then.
  bool is_recursion_visible() {
    std::int64_t all_self_ns = 0;
    for (Group& group : groups_) {
      group.sums.outermost_cpu_time_ns = group.sums.cpu_time_total_ns;
      all_self_ns += group.sums.self_cpu_time_total_ns;
    }
    return std::ranges::any_of(groups_, [&](const Group& group) { return group.sums.cpu_time_total_ns > all_self_ns; });
  }

  void leave_out_nested_calls() {
    std::vector<EventIndex> open_until(groups_.size(), 0);  // end of the subtree of each group's last outermost call
    grouping_.rewind();
    for (EventIndex i = 0; i < events_.size(); ++i) {
      if (!tree_.is_averaged(i)) continue;
      const std::uint32_t g = grouping_.group_of(i);
      if (!tree_.is_node(i)) continue;
      if (i < open_until[g]) {
        groups_[g].sums.outermost_cpu_time_ns -= events_.duration_ns[i];
      } else {
        open_until[g] = tree_.subtree_end(i);
      }
    }
  }

  void add_memory_reports() {
    if (memory_.outside().empty()) return;
    const std::uint32_t first = memory_.outside().front();
    Group group{Sums{}, kNoEvent, recording_.memory.time_ns[first], recording_.memory.time_ns[first]};
    for (const std::uint32_t report : memory_.outside()) {
      const MemoryDelta delta = delta_of(recording_.memory, report);
      add_memory(group.sums, delta, delta);
      ++group.sums.count;
    }
    groups_.push_back(group);
  }

  std::vector<Average> rows_in_order() {
    const auto comes_first = [](const Group& a, const Group& b) {
      if (a.first_start != b.first_start) return a.first_start < b.first_start;
      if (a.first_end != b.first_end) return a.first_end > b.first_end;
      return a.first_event < b.first_event;
    };
    if (!std::ranges::is_sorted(groups_, comes_first)) std::ranges::sort(groups_, comes_first);
    std::vector<Average> rows;
    rows.reserve(groups_.size());
    prefer_large_pages(rows.data(), groups_.size() * sizeof(Average));
    for (const Group& group : groups_) describe(group, rows.emplace_back());
    return rows;
  }

  // Takes what the sums do not say from the first event of the group; a group without events is that of memory reports.
  void describe(const Group& group, Average& row) const {
    static_cast<Sums&>(row) = group.sums;
    row.use_device = analysis_.use_device();
    if (options_.group_by_input_shape) row.input_shapes.emplace();
    if (group.first_event == kNoEvent) {
      row.key = "[memory]";
      return;
    }
    const FunctionEvent first(analysis_, group.first_event);
    row.first_event = group.first_event;
    row.key = first.name();
    if (options_.group_by_input_shape) row.input_shapes = first.shapes();
    if (options_.group_by_stack_n > 0) {
      const auto stack = analysis_.stacks().of(row.first_event);
      if (stack) row.stack = analysis_.stacks().user_frames(*stack, static_cast<std::size_t>(options_.group_by_stack_n));
    }
    if (options_.group_by_overload_name) row.overload_name = first.overload_name();
    row.device_type = first.device_type();
    row.op_device = first.op_device();
    row.scope = first.scope();
    row.is_async = first.is_async();
    row.is_user_annotation = first.is_user_annotation();
    row.parent = tree_.parent(row.first_event);
  }

  const Analysis& analysis_;
  const GroupOptions options_;
  const trace::Recording& recording_;
  const trace::EventColumns& events_;
  const EventTree& tree_;
  const LaunchLinks& launches_;
  const MemoryUse& memory_;
  Grouping grouping_;
  std::vector<Group> groups_;
};

}  // namespace

KeyAverages key_averages(const Analysis& analysis, const GroupOptions& options) {
  return {Averaging(analysis, options).rows(), table_context(analysis.recording())};
}

Average KeyAverages::total_average() const {
  Average total;
  for (const Average& row : rows) total.add_sums(row);
  total.key = "Total";
  if (!rows.empty()) total.use_device = rows.front().use_device;
  return total;
}

double KeyAverages::self_cpu_time_total() const {
  std::int64_t ns = 0;
  for (const Average& row : rows) ns += row.self_cpu_time_total_ns;
  return static_cast<double>(ns) / 1000.0;
}

}  // namespace mindtorch::analyze
