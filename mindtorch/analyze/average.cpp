// Fields of an average by name, and adding rows up.
#include "mindtorch/analyze/average.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "mindtorch/analyze/units.h"
#include "mindtorch/base/error.h"

namespace mindtorch::analyze {
namespace {

struct NamedField {
  std::string_view name;
  Field (*read)(const Average&);
};

Field shapes_field(const Average& a) {
  if (a.input_shapes) return *a.input_shapes;
  return std::string();
}

constexpr auto kFields = std::to_array<NamedField>({
    {"key", [](const Average& a) -> Field { return a.key; }},
    {"count", [](const Average& a) -> Field { return a.count; }},
    {"node_id", [](const Average& a) -> Field { return std::int64_t{a.node_id}; }},
    {"is_async", [](const Average& a) -> Field { return std::int64_t{a.is_async}; }},
    {"is_remote", [](const Average& a) -> Field { return std::int64_t{a.is_remote}; }},
    {"use_device", [](const Average& a) -> Field { return a.use_device; }},
    {"cpu_time_total", [](const Average& a) -> Field { return a.cpu_time_total(); }},
    {"device_time_total", [](const Average& a) -> Field { return a.device_time_total(); }},
    {"self_cpu_time_total", [](const Average& a) -> Field { return a.self_cpu_time_total(); }},
    {"self_device_time_total", [](const Average& a) -> Field { return a.self_device_time_total(); }},
    {"input_shapes", shapes_field},
    {"overload_name", [](const Average& a) -> Field { return a.overload_name; }},
    {"stack", [](const Average& a) -> Field { return a.stack; }},
    {"scope", [](const Average& a) -> Field { return std::int64_t{a.scope}; }},
    {"cpu_memory_usage", [](const Average& a) -> Field { return a.cpu_memory_usage; }},
    {"device_memory_usage", [](const Average& a) -> Field { return a.device_memory_usage; }},
    {"self_cpu_memory_usage", [](const Average& a) -> Field { return a.self_cpu_memory_usage; }},
    {"self_device_memory_usage", [](const Average& a) -> Field { return a.self_device_memory_usage; }},
    {"device_type", [](const Average& a) -> Field { return static_cast<std::int64_t>(a.device_type); }},
    {"is_legacy", [](const Average& a) -> Field { return std::int64_t{a.is_legacy}; }},
    {"flops", [](const Average& a) -> Field { return a.flops; }},
    {"is_user_annotation", [](const Average& a) -> Field { return std::int64_t{a.is_user_annotation}; }},
    {"cpu_time", [](const Average& a) -> Field { return a.cpu_time(); }},
    {"device_time", [](const Average& a) -> Field { return a.device_time(); }},
    {"cpu_time_str", [](const Average& a) -> Field { return format_time(a.cpu_time()); }},
    {"device_time_str", [](const Average& a) -> Field { return format_time(a.device_time()); }},
    {"cpu_time_total_str", [](const Average& a) -> Field { return format_time(a.cpu_time_total()); }},
    {"device_time_total_str", [](const Average& a) -> Field { return format_time(a.device_time_total()); }},
    {"self_cpu_time_total_str", [](const Average& a) -> Field { return format_time(a.self_cpu_time_total()); }},
    {"self_device_time_total_str", [](const Average& a) -> Field { return format_time(a.self_device_time_total()); }},
});

constexpr auto kFieldNames = [] {
  std::array<std::string_view, kFields.size()> names{};
  std::ranges::transform(kFields, names.begin(), &NamedField::name);
  return names;
}();

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

}  // namespace

Field field(const Average& average, std::string_view name, std::string_view type_name) {
  std::string plain(name);
  for (const std::string_view device : {"cuda", "xpu", "privateuse1"}) replace_all(plain, device, "device");
  replace_all(plain, "npu_", "device_");  // not the "npu" of "input_shapes"
  const auto* const found = std::ranges::find(kFields, plain, &NamedField::name);
  if (found == kFields.end()) throw NoSuchAttribute(fmt::format("'{}' object has no attribute '{}'", type_name, plain));
  return found->read(average);
}

std::span<const std::string_view> field_names() { return kFieldNames; }

void Sums::add_sums(const Sums& other) {
  count += other.count;
  cpu_time_total_ns += other.cpu_time_total_ns;
  self_cpu_time_total_ns += other.self_cpu_time_total_ns;
  device_time_total_ns += other.device_time_total_ns;
  self_device_time_total_ns += other.self_device_time_total_ns;
  cpu_memory_usage += other.cpu_memory_usage;
  self_cpu_memory_usage += other.self_cpu_memory_usage;
  device_memory_usage += other.device_memory_usage;
  self_device_memory_usage += other.self_device_memory_usage;
  flops += other.flops;
  outermost_cpu_time_ns += other.outermost_cpu_time_ns;
}

void Average::add(const Average& other) {
  if (other.key != key) throw AssertionFailed(fmt::format("Expected keys to match, but got {} vs {}", other.key, key));
  add_sums(other);
}

}  // namespace mindtorch::analyze
