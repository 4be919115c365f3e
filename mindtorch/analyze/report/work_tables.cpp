// Work tables of ops and kernels: rows by name, then links between the rows that are shown.
#include "mindtorch/analyze/report/work_tables.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/place_tables.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

bool is_inside_its_own_name(const Analysis& analysis, EventIndex i) {
  const EventTree& tree = analysis.tree();
  const trace::EventColumns& events = analysis.recording().events;
  for (EventIndex around = tree.parent(i); around != kNoEvent; around = tree.parent(around)) {
    if (events.name[around] == events.name[i]) return true;
  }
  return false;
}

// A key of names may stand for host events and for device activities: they are different rows.
class Tables {
 public:
  Tables(const Analysis& analysis, const Phases& phases, const WorkTableOptions& options)
      : analysis_(analysis), phases_(phases), recording_(analysis.recording()), options_(options) {
    row_of_[0].assign(recording_.names.size(), kNoRow);
    row_of_[1].assign(recording_.names.size(), kNoRow);
  }

  WorkTables finish() {
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (counts(i)) add(i);
    }
    settle_phases(rows_[0]);
    WorkTables tables;
    tables.ops_left_out = sort_and_cut(rows_[0], row_of_[0], false);
    tables.kernels_left_out = sort_and_cut(rows_[1], row_of_[1], true);
    add_links();
    add_times();
    tables.ops = std::move(rows_[0]);
    tables.kernels = std::move(rows_[1]);
    return tables;
  }

 private:
  bool counts(EventIndex i) const {
    const EventKind kind = recording_.events.kind[i];
    if (!trace::is_device_kind(kind)) return is_host_work(analysis_, i);
    return is_device_work(kind) && analysis_.names().key(recording_.events.name[i]) != EventNames::kHidden;
  }

  std::uint32_t& row_slot(EventIndex i) {
    const bool on_device = trace::is_device_kind(recording_.events.kind[i]);
    return row_of_[on_device][analysis_.names().key(recording_.events.name[i])];
  }
  std::uint32_t row_at(EventIndex i) { return row_slot(i); }

  void add(EventIndex i) {
    const bool on_device = trace::is_device_kind(recording_.events.kind[i]);
    std::uint32_t& slot = row_slot(i);
    if (slot == kNoRow) {
      slot = static_cast<std::uint32_t>(rows_[on_device].size());
      rows_[on_device].push_back(row_for(analysis_, i));
    }
    OpRow& row = rows_[on_device][slot];
    if (!on_device) return add_host_call(row, analysis_, phases_, i);
    const std::int64_t duration = recording_.events.duration_ns[i];
    row.add_call(duration);
    row.total_ns += duration;
    row.self_device_ns += duration;
    row.device_ns += duration;
  }

  // Returns how many rows were left out.
  std::size_t sort_and_cut(std::vector<OpRow>& rows, std::vector<std::uint32_t>& row_of, bool on_device) const {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t row) {
      return on_device ? rows[row].self_device_ns : rows[row].self_ns + rows[row].self_device_ns;
    });
    const std::size_t kept = std::min(rows.size(), options_.most_rows);
    std::vector<std::uint32_t> new_place(rows.size(), kNoRow);
    std::vector<OpRow> sorted;
    for (std::size_t k = 0; k < kept; ++k) {
      new_place[order[k]] = static_cast<std::uint32_t>(k);
      sorted.push_back(std::move(rows[order[k]]));
    }
    for (std::uint32_t& row : row_of) row = row == kNoRow ? kNoRow : new_place[row];
    const std::size_t left_out = rows.size() - kept;
    rows = std::move(sorted);
    return left_out;
  }

  using LinkMap = std::unordered_map<std::uint64_t, WorkLink>;  // by from << 32 | to

  static void count(LinkMap& links, std::uint32_t from, std::uint32_t to, std::int64_t time) {
    WorkLink& link = links[static_cast<std::uint64_t>(from) << 32 | to];
    ++link.calls;
    link.time_ns += time;
  }

  void add_links() {
    LinkMap calls, launches;
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (!counts(i)) continue;
      const bool on_device = trace::is_device_kind(recording_.events.kind[i]);
      const EventIndex from = on_device ? analysis_.launches().host_of(i) : caller_of(i);
      if (from == kNoEvent || row_at(i) == kNoRow || row_at(from) == kNoRow) continue;
      count(on_device ? launches : calls, row_at(from), row_at(i), recording_.events.duration_ns[i]);
    }
    for (const auto& [key, link] : calls) {
      append(rows_[0], key >> 32, &OpRow::callees, key & 0xFFFFFFFF, link);
      append(rows_[0], key & 0xFFFFFFFF, &OpRow::callers, key >> 32, link);
    }
    for (const auto& [key, link] : launches) {
      append(rows_[0], key >> 32, &OpRow::kernels, key & 0xFFFFFFFF, link);
      append(rows_[1], key & 0xFFFFFFFF, &OpRow::callers, key >> 32, link);
    }
    for (std::vector<OpRow>& rows : rows_) {
      for (OpRow& row : rows) {
        for (std::vector<WorkLink>* links : {&row.callers, &row.callees, &row.kernels}) {
          std::ranges::sort(*links,
                            [](const WorkLink& a, const WorkLink& b) { return std::pair(b.time_ns, a.row) < std::pair(a.time_ns, b.row); });
          if (links->size() > options_.most_links) links->resize(options_.most_links);
        }
      }
    }
  }

  void append(std::vector<OpRow>& rows, std::uint64_t row, std::vector<WorkLink> OpRow::*list, std::uint64_t other, WorkLink link) const {
    if (row >= options_.rows_with_links) return;
    link.row = static_cast<std::uint32_t>(other);
    (rows[row].*list).push_back(link);
  }

  // The node around an event, steps left out.
  EventIndex caller_of(EventIndex i) const {
    const EventIndex parent = analysis_.tree().parent(i);
    return parent == kNoEvent || recording_.events.kind[parent] == EventKind::kStep ? kNoEvent : parent;
  }

  void add_times() {
    const std::vector<StepPhases>& steps = phases_.steps();
    const std::int64_t start = steps.front().start_ns;
    const std::int64_t span = std::max<std::int64_t>(1, steps.back().start_ns + steps.back().duration_ns - start);
    const auto bins = static_cast<std::int64_t>(options_.bins);
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (!counts(i) || row_at(i) >= options_.rows_with_links) continue;
      const std::int64_t since = recording_.events.start_ns[i] - start;
      if (since < 0 || since >= span) continue;
      const bool on_device = trace::is_device_kind(recording_.events.kind[i]);
      std::vector<std::int64_t>& times = rows_[on_device][row_at(i)].over_time;
      if (times.empty()) times.assign(options_.bins, 0);
      const auto bin = static_cast<std::size_t>(static_cast<double>(since) / static_cast<double>(span) * static_cast<double>(bins));
      times[std::min(bin, options_.bins - 1)] += on_device ? recording_.events.duration_ns[i] : analysis_.tree().self_ns(i);
    }
  }

  const Analysis& analysis_;
  const Phases& phases_;
  const trace::Recording& recording_;
  const WorkTableOptions options_;
  std::vector<OpRow> rows_[2];            // host, device
  std::vector<std::uint32_t> row_of_[2];  // by key of names
};

}  // namespace

bool is_host_work(const Analysis& analysis, EventIndex event) {
  const trace::EventColumns& events = analysis.recording().events;
  if (!analysis.tree().is_node(event) || events.kind[event] == EventKind::kStep) return false;
  return analysis.names().key(events.name[event]) != EventNames::kHidden;
}

OpRow row_for(const Analysis& analysis, EventIndex event) {
  const trace::EventColumns& events = analysis.recording().events;
  return {.name = std::string(analysis.names().text(analysis.names().key(events.name[event]))),
          .kind = trace::event_kind_name(events.kind[event])};
}

void settle_phases(std::vector<OpRow>& rows) {
  for (OpRow& row : rows) row.phase = static_cast<Cause>(std::ranges::max_element(row.by_phase) - row.by_phase.begin());
}

void add_host_call(OpRow& row, const Analysis& analysis, const Phases& phases, EventIndex event) {
  const std::int64_t duration = analysis.recording().events.duration_ns[event];
  row.add_call(duration);
  row.self_ns += analysis.tree().self_ns(event);
  row.self_device_ns += analysis.launches().self_ns(event);
  // Calls without time of their own count a little, so that their rows have a phase.
  row.by_phase[static_cast<std::size_t>(phases.of(event))] +=
      std::max<std::int64_t>(1, analysis.tree().self_ns(event) + analysis.launches().self_ns(event));
  const MemoryDelta memory = analysis.memory_use().self(event);
  row.memory += memory.cpu + memory.device;
  if (is_inside_its_own_name(analysis, event)) return;
  row.total_ns += duration;
  row.device_ns += analysis.launches().total_ns(event);
}

WorkTables work_tables(const Analysis& analysis, const Phases& phases, const WorkTableOptions& options) {
  WorkTables tables = Tables(analysis, phases, options).finish();
  tables.modules = module_rows(analysis, options.most_rows);
  tables.lines = analysis.stacks().empty() ? seen_line_rows(analysis, phases, options.most_rows) : line_rows(analysis, options.most_rows);
  tables.ops_by_shapes = rows_by_place(analysis, phases, OpPlace::kShapes, options.most_rows);
  tables.ops_by_module = rows_by_place(analysis, phases, OpPlace::kModule, options.most_rows);
  tables.ops_by_line = rows_by_place(analysis, phases, OpPlace::kLine, options.most_rows);
  return tables;
}

}  // namespace mindtorch::analyze
