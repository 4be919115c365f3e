// What the library records for which tool, and where the records go.
#include <algorithm>

#include "tests/doubles/cupti/library.h"

namespace cupti_double {

Library::Tools Library::wanted_by(std::uint32_t kind) const {
  std::lock_guard lock(mutex_);
  Tools tools = 0;
  for (std::size_t i = 0; i < kTools; ++i) tools |= tools_[i].kinds.contains(kind) ? 1U << i : 0;
  return tools;
}

Library::Tools Library::call_wanted_by(std::uint32_t domain, std::uint32_t callback_id) const {
  Tools tools = wanted_by(domain == abi::kRuntimeApi ? abi::kRuntime : abi::kDriver);
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < kTools; ++i)
    if (tools_[i].disabled_functions.contains({domain, callback_id})) tools &= ~(1U << i);
  return tools;
}

abi::Result Library::enable(Tool& tool, std::uint32_t kind, bool on) {
  if (record_size(kind, version()) == 0) return abi::kInvalidKind;
  std::lock_guard lock(mutex_);
  if (on) {
    tool.kinds.insert(kind);
  } else {
    tool.kinds.erase(kind);
  }
  return abi::kSuccess;
}

abi::Result Library::enable_classic(Tool& tool, std::uint32_t kind) {
  if (has_shared_subscribers()) return abi::kNotCompatible;
  {
    std::lock_guard lock(mutex_);
    was_classic_ = true;
  }
  return enable(tool, kind, true);
}

abi::Result Library::enable_shared(Tool& tool, std::uint32_t kind, const abi::ActivityConfig* config) {
  {
    std::lock_guard lock(mutex_);
    if (was_classic_) return abi::kNotCompatible;
    if (!tool.is_user_defined) return abi::kInvalidOperation;  // the double has no classic records for a subscriber
    if (tool.kinds.contains(kind)) return abi::kInvalidOperation;
    if (kind == abi::kGraphTrace && may_share_ && !has_whole_graphs_) return abi::kMultipleSubscribersNotSupported;
  }
  if (config == nullptr) return abi::kInvalidParameter;
  const abi::FieldSelection& selection = config->field_selection;
  if (!tool.layouts.select(kind, {selection.field_ids, selection.num_fields})) return abi::kInvalidParameter;
  if (version() >= abi::kFirstVersionWithApiOptions && config->struct_size >= sizeof(abi::ActivityConfig) &&
      config->kind_options != nullptr)
    report_violation("the double knows no options of kinds");
  return enable(tool, kind, true);
}

void Library::enable_function(Tool& tool, std::uint32_t domain, std::uint32_t callback_id, bool on) {
  std::lock_guard lock(mutex_);
  if (on) {
    tool.disabled_functions.erase({domain, callback_id});
  } else {
    tool.disabled_functions.insert({domain, callback_id});
  }
}

abi::Result Library::set_attribute(Tool& tool, std::uint32_t attribute, std::size_t size, const void* value) {
  if (attribute == abi::kThreadIdType && size != sizeof(std::uint32_t)) return abi::kInvalidParameter;
  const bool on = *static_cast<const std::uint8_t*>(value) != 0;
  if (attribute == abi::kZeroedOutActivityBuffer) tool.delivery.trust_zeroed_buffers(on);
  if (attribute == abi::kEnableCudaEventDeviceTimestamps) event_times = on;
  std::lock_guard lock(mutex_);
  if (attribute == abi::kThreadIdType) tool.has_system_thread_ids = on;
  if (attribute == abi::kUserDefinedRecords) {
    if (!tool.kinds.empty()) return abi::kInvalidOperation;
    tool.is_user_defined = on;
  }
  if (attribute == abi::kEnableMultiSubscriberGraphTrace) {
    if (std::ranges::any_of(tools_, [](const Tool& each) { return !each.kinds.empty(); })) return abi::kInvalidOperation;
    has_whole_graphs_ = on;
  }
  return abi::kSuccess;
}

void Library::use_system_thread_ids(Tool& tool, bool use) {
  std::lock_guard lock(mutex_);
  tool.has_system_thread_ids = use;
}

bool Library::traces_whole_graphs() const {
  std::lock_guard lock(mutex_);
  if (may_share_ && std::any_of(tools_.begin() + 1, tools_.end(), [](const Tool& tool) { return tool.is_subscribed; }))
    return has_whole_graphs_;
  return std::ranges::any_of(tools_, [](const Tool& tool) { return tool.kinds.contains(abi::kGraphTrace); });
}

void Library::write(Tools tools, std::uint64_t lane, const std::string& record) {
  for (std::size_t i = 0; i < kTools; ++i)
    if ((tools >> i & 1) != 0) tools_[i].delivery.append(lane, record);
}

void Library::end_buffers(Tools tools, std::uint64_t lane) {
  for (std::size_t i = 0; i < kTools; ++i)
    if ((tools >> i & 1) != 0) tools_[i].delivery.end_buffer(lane);
}

void Library::count_dropped(Tools tools, std::uint64_t count) {
  for (std::size_t i = 0; i < kTools; ++i)
    if ((tools >> i & 1) != 0) tools_[i].delivery.count_dropped(count);
}

void Library::flush() {
  for (Tool& tool : tools_) tool.delivery.flush();
}

bool Library::is_registered() const {
  return std::ranges::any_of(tools_, [](const Tool& tool) { return tool.delivery.is_registered(); });
}

std::uint64_t Library::buffers_held() const {
  std::uint64_t held = 0;
  for (const Tool& tool : tools_) held += tool.delivery.buffers_held();
  return held;
}

void Library::set_faults(const CuptiDoubleFaults& faults) {
  device.set_faults(faults);
  for (Tool& tool : tools_) tool.delivery.set_faults(faults);
}

void Library::set_layouts(const CuptiDoubleLayouts& layouts) {
  std::lock_guard lock(layouts_mutex_);
  layouts_ = layouts;
}

CuptiDoubleLayouts Library::layouts() const {
  std::lock_guard lock(layouts_mutex_);
  return layouts_;
}

}  // namespace cupti_double
