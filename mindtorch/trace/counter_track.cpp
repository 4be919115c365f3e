// Counter tracks: finding, sorting and checking them.
#include "mindtorch/trace/counter_track.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace mindtorch::trace {

CounterTrack& find_or_add_counter(std::vector<CounterTrack>& counters, std::string_view name, std::string_view unit, Device device) {
  const auto known = std::ranges::find_if(
      counters, [&](const CounterTrack& counter) { return counter.name == name && counter.unit == unit && counter.device == device; });
  if (known != counters.end()) return *known;
  return counters.emplace_back(CounterTrack{std::string(name), std::string(unit), device, {}, {}});
}

void join_counters(std::vector<CounterTrack>& counters) {
  std::map<std::tuple<std::string, std::string, Device>, std::size_t> place;
  std::vector<CounterTrack> joined;
  for (CounterTrack& counter : counters) {
    const auto [at, is_new] = place.try_emplace({counter.name, counter.unit, counter.device}, joined.size());
    if (is_new) {
      joined.push_back(std::move(counter));
      continue;
    }
    CounterTrack& first = joined[at->second];
    first.times_ns.insert(first.times_ns.end(), counter.times_ns.begin(), counter.times_ns.end());
    first.values.insert(first.values.end(), counter.values.begin(), counter.values.end());
  }
  counters = std::move(joined);
}

void order_samples(CounterTrack& counter) {
  if (std::ranges::is_sorted(counter.times_ns)) return;
  std::vector<std::size_t> order(counter.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t sample) { return counter.times_ns[sample]; });
  CounterTrack sorted{counter.name, counter.unit, counter.device, {}, {}};
  sorted.times_ns.reserve(order.size());
  sorted.values.reserve(order.size());
  for (const std::size_t sample : order) {
    sorted.times_ns.push_back(counter.times_ns[sample]);
    sorted.values.push_back(counter.values[sample]);
  }
  counter = std::move(sorted);
}

std::string check_counters(const std::vector<CounterTrack>& counters) {
  std::set<std::tuple<std::string_view, std::string_view, Device>> seen;
  for (const CounterTrack& counter : counters) {
    if (counter.times_ns.size() != counter.values.size())
      return fmt::format("the counter '{}' has {} times for {} values", counter.name, counter.times_ns.size(), counter.values.size());
    if (!std::ranges::is_sorted(counter.times_ns)) return fmt::format("the counter '{}' is not sorted by time", counter.name);
    if (!std::ranges::all_of(counter.values, [](double value) { return std::isfinite(value); }))
      return fmt::format("the counter '{}' has a value that is not a number", counter.name);
    if (!seen.emplace(counter.name, counter.unit, counter.device).second)
      return fmt::format("there are two counters '{}' of the same device", counter.name);
  }
  return {};
}

}  // namespace mindtorch::trace
