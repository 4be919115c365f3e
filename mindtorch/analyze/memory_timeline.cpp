// Memory timeline: blocks from reports, categories for blocks, entries in order of time, running totals.
#include "mindtorch/analyze/memory_timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "mindtorch/analyze/data_flow.h"
#include "mindtorch/analyze/memory_categories.h"
#include "mindtorch/analyze/tensor_categories.h"

namespace mindtorch::analyze {
namespace {

using trace::MemoryCategory;

struct Tagging {
  std::int64_t time_ns;
  MemoryCategory category;
};

// A piece of memory from its allocation to its release.
struct Block {
  std::int64_t bytes = 0;
  std::optional<std::size_t> allocation;  // the report, unset if it was made before the recording
  std::optional<std::int64_t> freed_ns;
  std::vector<Tagging> tags;
};

// Follows the addresses of one device through reports and tags.
class Blocks {
 public:
  Blocks(const trace::Recording& recording, trace::Device device) : recording_(recording), tags_(recording.memory_tags) {
    std::ranges::stable_sort(tags_, {}, &trace::MemoryTag::time_ns);
    for (std::size_t r = 0; r < recording.memory.size(); ++r) {
      go_on_until(recording.memory.time_ns[r]);
      if (recording.memory.device[r] == device) add_report(r);
    }
    go_on_until(std::numeric_limits<std::int64_t>::max());
  }

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  void go_on_until(std::int64_t time_ns) {
    while (next_tag_ < tags_.size() && tags_[next_tag_].time_ns < time_ns) add_tag(tags_[next_tag_++]);
  }

  void add_report(std::size_t r) {
    const std::uint64_t address = recording_.memory.address[r];
    const std::int64_t bytes = recording_.memory.bytes[r], time = recording_.memory.time_ns[r];
    if (bytes > 0) {
      release(address, time);  // its release was lost: the address cannot be handed out twice
      const bool existed = time <= recording_.clock.start_ns;
      live_[address] = blocks_.size();
      blocks_.push_back({.bytes = bytes, .allocation = existed ? std::nullopt : std::optional(r)});
      take_early_tags(address);
    } else if (bytes < 0 && !release(address, time)) {
      blocks_.push_back({.bytes = -bytes, .freed_ns = time});
      live_[address] = blocks_.size() - 1;
      take_early_tags(address);
      live_.erase(address);
    }
  }

  bool release(std::uint64_t address, std::int64_t time) {
    const auto found = live_.find(address);
    if (found == live_.end()) return false;
    blocks_[found->second].freed_ns = time;
    live_.erase(found);
    return true;
  }

  void add_tag(const trace::MemoryTag& tag) {
    const auto found = live_.find(tag.address);
    if (found != live_.end()) {
      blocks_[found->second].tags.push_back({tag.time_ns, tag.category});
    } else {
      early_tags_[tag.address] = {tag.time_ns, tag.category};
    }
  }

  // A tag of memory that was there before the recording is met before the report that tells its size.
  void take_early_tags(std::uint64_t address) {
    const auto found = early_tags_.find(address);
    if (found == early_tags_.end()) return;
    Block& block = blocks_[live_.at(address)];
    if (!block.allocation) block.tags.push_back(found->second);
    early_tags_.erase(found);
  }

  const trace::Recording& recording_;
  std::vector<trace::MemoryTag> tags_;
  std::size_t next_tag_ = 0;
  std::vector<Block> blocks_;
  std::unordered_map<std::uint64_t, std::size_t> live_;
  std::unordered_map<std::uint64_t, Tagging> early_tags_;
};

class TimelineBuilder {
 public:
  TimelineBuilder(const Analysis& analysis, trace::Device device) : analysis_(analysis), recording_(analysis.recording()) {
    timeline_.device = device;
  }

  MemoryTimeline build() {
    if (recording_.memory_tags.empty() && analysis_.data_flow().has_tensors())
      add_tensors(analysis_.data_flow());
    else
      add_blocks();
    add_rest_of_baseline();
    std::ranges::stable_sort(timeline_.entries, {}, &MemoryEntry::unix_ns);
    add_up();
    return std::move(timeline_);
  }

 private:
  void entry(std::int64_t unix_ns, MemoryAction action, std::int64_t bytes, MemoryCategory category) {
    timeline_.entries.push_back({unix_ns, action, bytes, category});
  }
  std::int64_t unix_ns(std::int64_t time_ns) const { return recording_.clock.base_unix_ns + time_ns; }

  // A program of PyTorch.
  void add_tensors(const DataFlow& flow) {
    const TensorCategories categories(flow);
    const std::vector<FlowAllocation>& allocations = flow.allocations();
    for (std::uint32_t a = 0; a < allocations.size(); ++a)
      if (allocations[a].device == timeline_.device)
        add(allocations[a], categories.of(a, 0), categories.of(a, allocations[a].last_version));
    for (const FlowCall& call : flow.calls())
      for (const FlowEdge& edge : flow.edges(call)) {
        const FlowAllocation& allocation = allocations[edge.allocation];
        if (allocation.device != timeline_.device || edge.is_made || !edge.is_written) continue;
        const std::int64_t time = unix_ns(call.start_ns);
        entry(time, MemoryAction::kIncrementVersion, -allocation.bytes, categories.of(edge.allocation, edge.version));
        entry(time, MemoryAction::kIncrementVersion, allocation.bytes, categories.of(edge.allocation, edge.new_version()));
      }
    // As torch has them, where times are equal.
    std::ranges::stable_sort(timeline_.entries, {}, [](const MemoryEntry& e) { return std::pair(e.unix_ns, e.action); });
  }

  void add(const FlowAllocation& allocation, MemoryCategory first, MemoryCategory last) {
    if (!allocation.made_ns && !allocation.freed_ns && !allocation.is_used) return;
    const bool existed = !allocation.made_ns || *allocation.made_ns <= recording_.clock.start_ns;
    entry(existed ? -1 : unix_ns(*allocation.made_ns), existed ? MemoryAction::kPreexisting : MemoryAction::kCreate, allocation.bytes,
          first);
    if (allocation.freed_ns) entry(unix_ns(*allocation.freed_ns), MemoryAction::kDestroy, -allocation.bytes, last);
  }

  void add_blocks() {
    const Blocks blocks(recording_, timeline_.device);
    const MemoryCategories categories(analysis_);
    for (const Block& block : blocks.blocks()) add(block, categories);
  }

  void add(const Block& block, const MemoryCategories& categories) {
    MemoryCategory category = !block.tags.empty() ? block.tags.front().category
                              : block.allocation  ? categories.guess(*block.allocation, block.freed_ns)
                                                  : MemoryCategory::kUnknown;
    if (block.allocation) {
      entry(unix_ns(recording_.memory.time_ns[*block.allocation]), MemoryAction::kCreate, block.bytes, category);
    } else {
      entry(-1, MemoryAction::kPreexisting, block.bytes, category);
    }
    for (const Tagging& tag : block.tags) {
      if (tag.category == category) continue;
      entry(unix_ns(tag.time_ns), MemoryAction::kIncrementVersion, -block.bytes, category);
      entry(unix_ns(tag.time_ns), MemoryAction::kIncrementVersion, block.bytes, tag.category);
      category = tag.category;
    }
    if (block.freed_ns) entry(unix_ns(*block.freed_ns), MemoryAction::kDestroy, -block.bytes, category);
  }

  void add_rest_of_baseline() {
    if (std::ranges::find(recording_.memory_baselines, timeline_.device, &trace::MemoryBaseline::device) ==
        recording_.memory_baselines.end())
      return;
    std::int64_t rest = analysis_.memory_totals().after(timeline_.device, recording_.clock.start_ns);
    for (const MemoryEntry& e : timeline_.entries) rest -= e.action == MemoryAction::kPreexisting ? e.bytes : 0;
    if (rest > 0) timeline_.entries.insert(timeline_.entries.begin(), {-1, MemoryAction::kPreexisting, rest, MemoryCategory::kUnknown});
  }

  static std::int64_t microsecond_of(const MemoryEntry& e) { return e.unix_ns < 0 ? -1 : e.unix_ns / 1000; }

  void add_up() {
    MemoryTimeline::Row row{};
    std::int64_t total = 0;
    for (auto next = timeline_.entries.begin(); next != timeline_.entries.end();) {
      const std::int64_t time_us = microsecond_of(*next), before = total;
      MemoryTimeline::Row highest_row{};
      std::int64_t highest = before;
      for (; next != timeline_.entries.end() && microsecond_of(*next) == time_us; ++next) {
        total += next->bytes;
        add_to_row(*next, row);
        if (total > highest) highest = total, highest_row = row;
        if (total > timeline_.peak) timeline_.peak = total, timeline_.peak_unix_ns = next->unix_ns;
      }
      if (highest > before && highest > total) add_row(time_us, highest_row);
      add_row(time_us, row);
    }
    show_the_past_at_the_start();
  }

  void add_to_row(const MemoryEntry& e, MemoryTimeline::Row& row) {
    const auto category = static_cast<std::size_t>(e.category);
    row[1 + category] += e.bytes;
    timeline_.category_peaks[category] = std::max(timeline_.category_peaks[category], row[1 + category]);
  }

  void add_row(std::int64_t time_us, const MemoryTimeline::Row& row) {
    timeline_.times_us.push_back(time_us);
    timeline_.sizes.push_back(row);
  }

  // torch gives memory that existed before the recording the time of the first entry that has a time.
  void show_the_past_at_the_start() {
    const auto first = std::ranges::find_if(timeline_.times_us, [](std::int64_t t) { return t >= 0; });
    if (first != timeline_.times_us.end()) std::fill(timeline_.times_us.begin(), first, *first);
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  MemoryTimeline timeline_;
};

}  // namespace

MemoryTimeline memory_timeline(const Analysis& analysis, trace::Device device) { return TimelineBuilder(analysis, device).build(); }

std::vector<trace::Device> memory_devices(const trace::Recording& recording) {
  std::vector<trace::Device> devices(recording.memory.device.begin(), recording.memory.device.end());
  for (const trace::MemoryBaseline& baseline : recording.memory_baselines) devices.push_back(baseline.device);
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace mindtorch::analyze
