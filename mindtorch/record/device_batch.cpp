// DeviceBatch: storing each distinct row of details once.
#include "mindtorch/record/device_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mindtorch::record {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::span<const trace::Attribute> row) {
  std::uint64_t hash = row.size();
  for (const trace::Attribute& attribute : row)
    hash = mixed(mixed(hash, attribute.key | static_cast<std::uint64_t>(attribute.type) << 32), static_cast<std::uint64_t>(attribute.bits));
  return hash;
}

}  // namespace

std::uint32_t DetailTable::add(std::span<const trace::Attribute> row_values) {
  if (row_values.empty()) return 0;
  return ids_.find_or_add(
      hash_of(row_values), [&](std::uint32_t id) { return std::ranges::equal(row(id), row_values); },
      [&] {
        values_.insert(values_.end(), row_values.begin(), row_values.end());
        offsets_.push_back(static_cast<std::uint32_t>(values_.size()));
        return size() - 1;
      });
}

trace::Attribute DeviceBatch::attribute(std::string_view key, double value) {
  return {name_id(key), trace::Attribute::Type::kDouble, std::bit_cast<std::int64_t>(value)};
}

std::size_t DeviceBatch::sample_count() const {
  std::size_t count = samples.size();
  for (const CounterSeries& series : counters) count += series.values.size();
  return count;
}

void DeviceBatch::clear_samples() {
  for (CounterSeries& series : counters) series.ticks.clear(), series.values.clear();
  samples.clear();
}

std::uint32_t DeviceBatch::counter_id(std::string_view name, std::string_view unit, trace::Device device) {
  const auto known = std::ranges::find_if(
      counters, [&](const CounterSeries& series) { return series.name == name && series.unit == unit && series.device == device; });
  if (known != counters.end()) return static_cast<std::uint32_t>(known - counters.begin());
  counters.push_back({.name = std::string(name), .unit = std::string(unit), .device = device, .ticks = {}, .values = {}});
  return static_cast<std::uint32_t>(counters.size() - 1);
}

void DeviceBatch::count_dropped(std::uint64_t count, std::string_view why) {
  if (count == 0) return;
  dropped += count;
  dropped_detail += fmt::format("{}{} {}", dropped_detail.empty() ? "" : ", ", count, why);
}

}  // namespace mindtorch::record
