// Memory timeline: blocks from reports, categories for blocks, entries in order of time, running totals.
#include "mindtorch/analyze/memory_timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "mindtorch/analyze/memory_categories.h"
#include "mindtorch/analyze/tensor_memory.h"

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
  bool is_seen = false;   // known only because it was used: it existed before the recording
  bool is_input = false;  // it existed before the recording, and something that has a gradient was computed from it
};

// Follows the addresses of one device through reports, tags and the uses of storages.
class Blocks {
 public:
  Blocks(const trace::Recording& recording, trace::Device device)
      : recording_(recording), device_(device), tags_(owner_tags(recording)), uses_(storage_uses(recording)) {
    tags_.insert(tags_.end(), recording.memory_tags.begin(), recording.memory_tags.end());
    std::ranges::stable_sort(tags_, {}, &trace::MemoryTag::time_ns);
    for (std::size_t r = 0; r < recording.memory.size(); ++r) {
      go_on_until(recording.memory.time_ns[r]);
      if (recording.memory.device[r] == device) add_report(r);
    }
    go_on_until(std::numeric_limits<std::int64_t>::max());
  }

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  // Uses come first: the use tells of memory that existed before, whose purpose a tag at the same time tells.
  void go_on_until(std::int64_t time_ns) {
    while (true) {
      const bool has_use = next_use_ < uses_.size() && uses_[next_use_].time_ns < time_ns;
      const bool has_tag = next_tag_ < tags_.size() && tags_[next_tag_].time_ns < time_ns;
      if (has_use && (!has_tag || uses_[next_use_].time_ns <= tags_[next_tag_].time_ns))
        add_use(uses_[next_use_++]);
      else if (has_tag)
        add_tag(tags_[next_tag_++]);
      else
        return;
    }
  }

  // A storage that is used without having been allocated existed before the recording. Its size is what is seen of it.
  void add_use(const StorageUse& use) {
    if (use.device != device_) return;
    const auto [found, is_new] = live_.try_emplace(use.address, blocks_.size());
    if (is_new) blocks_.push_back({.is_seen = true});
    Block& block = blocks_[found->second];
    if (!block.is_seen) return;
    block.bytes = std::max(block.bytes, use.bytes);
    block.is_input |= use.needs_grad;
    if (is_new) take_early_tags(use.address);
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
  const trace::Device device_;
  std::vector<trace::MemoryTag> tags_;
  std::vector<StorageUse> uses_;
  std::size_t next_tag_ = 0, next_use_ = 0;
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
    const Blocks blocks(recording_, timeline_.device);
    const MemoryCategories categories(analysis_);
    add_rest_of_baseline(blocks.blocks());
    for (const Block& block : blocks.blocks()) add(block, categories);
    std::ranges::stable_sort(timeline_.entries, {}, &MemoryEntry::unix_ns);
    add_up();
    return std::move(timeline_);
  }

 private:
  void entry(std::int64_t unix_ns, MemoryAction action, std::int64_t bytes, MemoryCategory category) {
    timeline_.entries.push_back({unix_ns, action, bytes, category});
  }
  std::int64_t unix_ns(std::int64_t time_ns) const { return recording_.clock.base_unix_ns + time_ns; }

  void add(const Block& block, const MemoryCategories& categories) {
    MemoryCategory category = !block.tags.empty() ? block.tags.front().category
                              : block.allocation  ? categories.guess(*block.allocation, block.freed_ns)
                              : block.is_input    ? MemoryCategory::kInput
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

  void add_rest_of_baseline(const std::vector<Block>& blocks) {
    std::int64_t rest = 0;
    for (const trace::MemoryBaseline& baseline : recording_.memory_baselines) {
      if (baseline.device == timeline_.device) rest += baseline.allocated;
    }
    for (const Block& block : blocks) rest -= block.allocation ? 0 : block.bytes;
    if (rest > 0) entry(-1, MemoryAction::kPreexisting, rest, MemoryCategory::kUnknown);
  }

  void add_up() {
    std::array<std::int64_t, 1 + trace::kMemoryCategories> row{};
    std::int64_t total = 0, last_us = 0;
    for (const MemoryEntry& e : timeline_.entries) {
      const std::int64_t time_us = e.unix_ns < 0 ? -1 : e.unix_ns / 1000;
      const auto category = static_cast<std::size_t>(e.category);
      total += e.bytes;
      row[1 + category] += e.bytes;
      timeline_.category_peaks[category] = std::max(timeline_.category_peaks[category], row[1 + category]);
      if (total > timeline_.peak) {
        timeline_.peak = total;
        timeline_.peak_unix_ns = e.unix_ns;
      }
      if (timeline_.sizes.empty() || time_us != last_us) {
        timeline_.times_us.push_back(time_us);
        timeline_.sizes.push_back(row);
      }
      timeline_.sizes.back() = row;
      last_us = time_us;
    }
    show_the_past_at_the_start();
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
