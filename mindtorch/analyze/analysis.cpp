// Analysis: the parts and what each is made from.
#include "mindtorch/analyze/analysis.h"

#include <algorithm>
#include <utility>

#include "mindtorch/analyze/data_flow.h"
#include "mindtorch/analyze/events.h"

namespace mindtorch::analyze {
namespace {

std::string torch_device_name(trace::DeviceType type) {
  std::string name(trace::device_type_name(type));
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

// The device that was asked for; of a recording that does not say (made by hand, read from a file of another tool) that of its activities.
std::string find_use_device(const trace::Recording& recording) {
  for (const trace::DeviceType type : recording.options.activities) {
    if (type != trace::DeviceType::kCpu) return torch_device_name(type);
  }
  const auto activity = std::ranges::find_if(recording.events.kind, trace::is_device_kind);
  if (activity == recording.events.kind.end()) return {};
  return torch_device_name(recording.events.device[static_cast<std::size_t>(activity - recording.events.kind.begin())].type);
}

std::optional<NameId> find_name(const trace::Recording& recording, std::string_view name) {
  if (recording.attributes.empty()) return std::nullopt;
  const auto found = std::ranges::find(recording.names, name);
  if (found == recording.names.end()) return std::nullopt;
  return static_cast<NameId>(found - recording.names.begin());
}

}  // namespace

Analysis::Analysis(const trace::Recording& recording)
    : Analysis(std::shared_ptr<const trace::Recording>(std::shared_ptr<const trace::Recording>(), &recording)) {}

Analysis::Analysis(std::shared_ptr<const trace::Recording> recording)
    : recording_(std::move(recording)), use_device_(find_use_device(*recording_)), overload_key_(find_name(*recording_, "overload_name")) {}

Analysis::~Analysis() = default;

const EventNames& Analysis::names() const {
  return names_.get([&] { return std::make_unique<const EventNames>(*recording_); });
}
const EventTree& Analysis::tree() const {
  return tree_.get([&] { return std::make_unique<const EventTree>(*recording_, names()); });
}
const LaunchLinks& Analysis::launches() const {
  return launches_.get([&] { return std::make_unique<const LaunchLinks>(*recording_, tree()); });
}
const MemoryUse& Analysis::memory_use() const {
  return memory_use_.get([&] { return std::make_unique<const MemoryUse>(*recording_, tree()); });
}
const MemoryTotals& Analysis::memory_totals() const {
  return memory_totals_.get([&] { return std::make_unique<const MemoryTotals>(*recording_); });
}
const EventStacks& Analysis::stacks() const {
  return stacks_.get([&] { return std::make_unique<const EventStacks>(*recording_, tree()); });
}
const OpFlops& Analysis::flops() const {
  return flops_.get([&] { return std::make_unique<const OpFlops>(*recording_, tree()); });
}
const Events& Analysis::events() const {
  return events_.get([&] { return std::make_unique<const Events>(*this); });
}
const DataFlow& Analysis::data_flow() const {
  return data_flow_.get([&] { return std::make_unique<const DataFlow>(*this); });
}

std::string_view Analysis::overload_name(EventIndex event) const {
  if (!overload_key_) return {};
  for (const trace::Attribute& attribute : recording_->attributes.find(event)) {
    if (attribute.key == *overload_key_ && attribute.type == trace::Attribute::Type::kText) {
      return recording_->names[static_cast<std::size_t>(attribute.bits)];
    }
  }
  return {};
}

}  // namespace mindtorch::analyze
