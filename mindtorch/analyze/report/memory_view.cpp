// Memory view: a memory timeline, thinned out.
#include "mindtorch/analyze/report/memory_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "mindtorch/analyze/memory_timeline.h"
#include "mindtorch/analyze/report/verdict.h"

namespace mindtorch::analyze {
namespace {

using CategorySizes = std::array<std::int64_t, trace::kMemoryCategories>;

CategorySizes categories(const std::array<std::int64_t, 1 + trace::kMemoryCategories>& row) {
  CategorySizes sizes;
  std::copy(row.begin() + 1, row.end(), sizes.begin());
  return sizes;
}

template <class Bytes>
std::int64_t total_of(const Bytes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

void thin_out(const MemoryTimeline& timeline, const trace::Recording& recording, std::size_t points, MemoryView& view) {
  const std::int64_t start_us = (recording.clock.base_unix_ns + recording.clock.start_ns) / 1000;
  const std::size_t count = timeline.times_us.size();
  const std::size_t bins = std::min(points, std::max<std::size_t>(count, 1));
  for (std::size_t bin = 0; bin < bins && count > 0; ++bin) {
    const std::size_t begin = bin * count / bins, end = std::max(begin + 1, (bin + 1) * count / bins);
    std::size_t highest = begin;
    for (std::size_t k = begin; k < std::min(end, count); ++k) {
      if (total_of(timeline.sizes[k]) > total_of(timeline.sizes[highest])) highest = k;
    }
    view.times_ns.push_back(std::max<std::int64_t>(0, timeline.times_us[highest] - start_us) * 1000);
    view.bytes.push_back(categories(timeline.sizes[highest]));
  }
}

// Bytes that were allocated before the recording and that no baseline tells: traces of other profilers have none. The first report says how
// much is allocated in all, and the timeline says how much of that is known.
std::int64_t bytes_before(const MemoryTimeline& timeline, const trace::Recording& recording, trace::Device device) {
  const trace::MemoryColumns& memory = recording.memory;
  for (std::size_t report = 0; report < memory.size(); ++report) {
    if (memory.device[report] != device) continue;
    const std::int64_t time_us = (recording.clock.base_unix_ns + memory.time_ns[report]) / 1000;
    const auto after = std::ranges::upper_bound(timeline.times_us, time_us);
    if (after == timeline.times_us.begin()) return 0;
    const auto& known = timeline.sizes[static_cast<std::size_t>(after - timeline.times_us.begin()) - 1];
    // Other reports of the same microsecond are in the timeline too.
    std::int64_t total = memory.total_allocated[report];
    for (std::size_t next = report + 1; next < memory.size(); ++next) {
      if ((recording.clock.base_unix_ns + memory.time_ns[next]) / 1000 != time_us) break;
      if (memory.device[next] == device) total = memory.total_allocated[next];
    }
    return std::max<std::int64_t>(0, total - total_of(known));
  }
  return 0;
}

// The line of the user's code and the op, or the op alone where no stacks were recorded.
std::string holder_name(const Analysis& analysis, EventIndex node) {
  if (node == kNoEvent) return "outside of any op";
  const std::string_view op = analysis.recording().name(node);
  const std::optional<StackId> stack = analysis.stacks().of(node);
  const std::vector<std::string> lines = stack ? analysis.stacks().user_frames(*stack, 1) : std::vector<std::string>();
  return lines.empty() ? std::string(op) : fmt::format("{}, {}", short_line(lines.front()), op);
}

// Plays the reports up to the peak.
void find_holders(const Analysis& analysis, MemoryView& view) {
  const trace::MemoryColumns& memory = analysis.recording().memory;
  struct Allocation {
    std::int64_t bytes;
    EventIndex node;
  };
  std::unordered_map<std::uint64_t, Allocation> alive;
  std::int64_t now = 0, most = 0;
  std::size_t peak_report = 0;
  for (std::size_t r = 0; r < memory.size(); ++r) {
    if (memory.device[r] != view.device) continue;
    now = memory.total_allocated[r];
    if (now > most) most = now, peak_report = r;
    if (memory.bytes[r] > 0) ++view.allocations, view.allocated += memory.bytes[r];
  }
  for (std::size_t r = 0; r < memory.size() && r <= peak_report; ++r) {
    if (memory.device[r] != view.device) continue;
    if (memory.bytes[r] > 0) {
      alive[memory.address[r]] = {memory.bytes[r], analysis.memory_use().node_of(r)};
    } else {
      alive.erase(memory.address[r]);
    }
  }
  std::map<std::string, MemoryHolder> by_name;
  std::int64_t known = 0;
  for (const auto& [address, block] : alive) {
    const std::string name = holder_name(analysis, block.node);
    MemoryHolder& holder = by_name[name];
    holder.name = name;
    holder.bytes += block.bytes;
    ++holder.blocks;
    known += block.bytes;
  }
  for (auto& [name, holder] : by_name) view.holders.push_back(std::move(holder));
  if (view.peak > known) view.holders.push_back({"allocated before the recording", view.peak - known, 0});
  std::ranges::sort(view.holders, std::ranges::greater{}, &MemoryHolder::bytes);
  if (view.holders.size() > 30) view.holders.resize(30);
}

}  // namespace

std::vector<MemoryView> memory_views(const Analysis& analysis, std::size_t points) {
  std::vector<MemoryView> views;
  const trace::Recording& recording = analysis.recording();
  if (recording.memory.size() == 0) return views;
  for (const trace::Device device : memory_devices(recording)) {
    const MemoryTimeline timeline = memory_timeline(analysis, device);
    MemoryView view{.device = device, .peak = timeline.peak};
    view.peak_ns = std::max<std::int64_t>(0, timeline.peak_unix_ns - recording.clock.base_unix_ns - recording.clock.start_ns);
    thin_out(timeline, recording, points, view);
    view.before = bytes_before(timeline, recording, device);
    view.peak += view.before;
    find_holders(analysis, view);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace mindtorch::analyze
