// TensorIds: tensors are collected in order of time, numbered by allocation, and grouped.
#include "mindtorch/analyze/tensor_ids.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {
namespace {

// A tensor among arguments, or a report of memory.
struct Sight {
  std::int64_t time_ns = 0;
  std::size_t at = 0;        // in the array of results
  std::uint64_t tensor = 0;  // 0: a report
  std::uint64_t storage = 0;
  trace::Device device;
  std::int64_t bytes = 0;  // of a report
};

// Allocations that belong together, as a forest: each has the number of a lower one of its group, the lowest has its own.
class Groups {
 public:
  explicit Groups(std::size_t count) : lower_(count) { std::iota(lower_.begin(), lower_.end(), std::size_t{0}); }

  std::size_t lowest(std::size_t member) {
    while (lower_[member] != member) member = lower_[member] = lower_[lower_[member]];
    return member;
  }
  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({lowest(a), lowest(b)});
    lower_[high] = low;
  }

 private:
  std::vector<std::size_t> lower_;
};

// Gives every sight its allocation; returns the highest number.
std::int64_t number_allocations(const std::vector<Sight>& sights, std::vector<TensorNumbers>& numbers,
                                std::vector<UnreportedRelease>& unreported) {
  std::map<std::pair<std::uint64_t, trace::Device>, std::int64_t> live;
  std::int64_t last = 0;
  for (const Sight& sight : sights) {
    const auto [found, is_new] = live.try_emplace({sight.storage, sight.device}, last + 1);
    if (is_new) {
      ++last;
    } else if (sight.bytes > 0) {
      unreported.push_back({found->second, sight.time_ns});
      found->second = ++last;
    }
    numbers[sight.at].allocation = found->second;
    if (sight.bytes < 0) live.erase(found);
  }
  return last;
}

// Gives allocations in which a tensor lies the number of that tensor.
void number_tensors(const std::vector<Sight>& sights, std::int64_t last_allocation, std::vector<TensorNumbers>& numbers) {
  Groups groups(static_cast<std::size_t>(last_allocation) + 1);
  std::vector<bool> holds_tensor(static_cast<std::size_t>(last_allocation) + 1);
  std::unordered_map<std::uint64_t, std::size_t> first_of_tensor;
  for (const Sight& sight : sights) {
    if (sight.tensor == 0) continue;
    const auto allocation = static_cast<std::size_t>(numbers[sight.at].allocation);
    holds_tensor[allocation] = true;
    groups.join(first_of_tensor.try_emplace(sight.tensor, allocation).first->second, allocation);
  }
  std::vector<std::int64_t> tensor_of(holds_tensor.size(), -1);
  std::int64_t next = 0;
  for (std::size_t allocation = 1; allocation < tensor_of.size(); ++allocation) {
    if (!holds_tensor[allocation]) continue;
    const std::size_t lowest = groups.lowest(allocation);
    tensor_of[allocation] = lowest == allocation ? next++ : tensor_of[lowest];
  }
  for (const Sight& sight : sights) numbers[sight.at].tensor = tensor_of[static_cast<std::size_t>(numbers[sight.at].allocation)];
}

}  // namespace

TensorIds::TensorIds(const trace::Recording& recording) : recording_(recording) {
  std::vector<Sight> sights;
  const trace::SideTable<std::int64_t>& inputs = recording.inputs;
  std::size_t count = 0;
  for (std::size_t row = 0; row < inputs.events.size(); ++row) {
    offsets_.push_back(count);
    const std::span words(inputs.values.data() + inputs.offsets[row], inputs.values.data() + inputs.offsets[row + 1]);
    for (const trace::TensorIdentity& identity : trace::tensor_identities(words)) {
      const std::size_t at = count++;
      if (identity.tensor != 0)
        sights.push_back({recording.events.start_ns[inputs.events[row]], at, identity.tensor, identity.storage, identity.device, 0});
    }
  }
  offsets_.push_back(count);
  first_report_ = count;
  const trace::MemoryColumns& memory = recording.memory;
  for (std::size_t i = 0; i < memory.size(); ++i)
    sights.push_back({memory.time_ns[i], first_report_ + i, 0, memory.address[i], memory.device[i], memory.bytes[i]});
  numbers_.resize(first_report_ + memory.size());
  // Stable: an op comes before what it allocates.
  std::stable_sort(sights.begin(), sights.end(), [](const Sight& a, const Sight& b) { return a.time_ns < b.time_ns; });
  const std::int64_t last = number_allocations(sights, numbers_, unreported_releases_);
  number_tensors(sights, last, numbers_);
}

std::span<const TensorNumbers> TensorIds::of_inputs(trace::EventIndex event) const {
  const std::vector<trace::EventIndex>& events = recording_.inputs.events;
  const auto found = std::lower_bound(events.begin(), events.end(), event);
  if (found == events.end() || *found != event) return {};
  const auto row = static_cast<std::size_t>(found - events.begin());
  return {numbers_.data() + offsets_[row], numbers_.data() + offsets_[row + 1]};
}

}  // namespace mindtorch::analyze
