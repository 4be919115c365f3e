// Sorts steps by duration, cuts where the next one is much longer, and names the kinds by what grew.
#include "mindtorch/analyze/report/step_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kMostKinds = 4;
constexpr double kJump = 1.3;       // from the longest step of a kind to the shortest of the next one
constexpr double kJumpOfOne = 1.5;  // if the longer kind has one step only

// Numbers the steps by the group of their duration, from the shortest to the longest.
std::vector<std::uint32_t> groups_by_duration(const std::vector<StepPhases>& steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return steps[k].duration_ns; });
  struct Cut {
    double ratio;
    std::size_t at;
  };
  std::vector<Cut> cuts;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const auto shorter = static_cast<double>(std::max<std::int64_t>(1, steps[order[k - 1]].duration_ns));
    const double ratio = static_cast<double>(steps[order[k]].duration_ns) / shorter;
    const bool leaves_one = k == 1 || k + 1 == order.size();
    if (ratio > (leaves_one ? kJumpOfOne : kJump)) cuts.push_back({ratio, k});
  }
  std::ranges::stable_sort(cuts, std::ranges::greater{}, &Cut::ratio);
  if (cuts.size() >= kMostKinds) cuts.resize(kMostKinds - 1);
  std::ranges::sort(cuts, {}, &Cut::at);
  std::vector<std::uint32_t> group(steps.size());
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (number < cuts.size() && cuts[number].at == k) ++number;
    group[order[k]] = number;
  }
  return group;
}

std::int64_t distance(const StepPhases& step, const StepKind& kind) {
  std::int64_t sum = std::abs(step.duration_ns - kind.mean_ns);
  for (std::size_t cause = 0; cause < kCauses; ++cause) sum += std::abs(step.host[cause] - kind.host[cause]);
  return sum;
}

// What a kind of steps has more of than the usual ones, or less.
std::string name_beside(const StepKind& kind, const StepKind& usual) {
  const bool is_longer = kind.mean_ns > usual.mean_ns;
  std::size_t most = 0;
  std::int64_t growth = 0;
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    const std::int64_t more = is_longer ? kind.host[cause] - usual.host[cause] : usual.host[cause] - kind.host[cause];
    if (more > growth) growth = more, most = cause;
  }
  return fmt::format("{} {}", is_longer ? "more" : "less", cause_name(static_cast<Cause>(most)));
}

}  // namespace

std::vector<StepKind> step_kinds(std::vector<StepPhases>& steps, std::span<const std::string> stages) {
  if (steps.empty()) return {};
  std::vector<std::uint32_t> group;
  std::vector<std::string> names;
  if (stages.size() == steps.size()) {
    std::map<std::string_view, std::uint32_t> numbers;
    for (const std::string& stage : stages) {
      const auto [at, is_new] = numbers.try_emplace(stage, static_cast<std::uint32_t>(names.size()));
      if (is_new) names.push_back(stage);
      group.push_back(at->second);
    }
  } else if (steps.size() > 3) {
    // The first step of a program warms up caches and compiles: it says little about the others.
    const std::vector<StepPhases> others(steps.begin() + 1, steps.end());
    group = groups_by_duration(others);
    const std::uint32_t kinds = *std::ranges::max_element(group) + 1;
    group.insert(group.begin(), kinds);
    names.assign(kinds + 1, "");
    names.back() = "first";
  } else {
    group.assign(steps.size(), 0);
    names = {""};
  }
  std::vector<StepKind> kinds(names.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k].name = names[k];
  for (std::size_t k = 0; k < steps.size(); ++k) {
    StepKind& kind = kinds[group[k]];
    ++kind.count;
    kind.mean_ns += steps[k].duration_ns;
    for (std::size_t cause = 0; cause < kCauses; ++cause) kind.host[cause] += steps[k].host[cause];
  }
  for (StepKind& kind : kinds) {
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, kind.count));
    kind.mean_ns /= count;
    for (std::int64_t& time : kind.host) time /= count;
  }
  std::vector<std::uint32_t> order(kinds.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t k) { return kinds[k].count; });
  std::vector<std::uint32_t> place(kinds.size());
  std::vector<StepKind> sorted;
  for (const std::uint32_t k : order) {
    place[k] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(kinds[k]));
  }
  for (StepKind& kind : sorted) {
    if (kind.name.empty()) kind.name = &kind == &sorted.front() ? "usual" : name_beside(kind, sorted.front());
  }
  std::vector<std::int64_t> nearest(sorted.size(), -1);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    steps[k].kind = place[group[k]];
    StepKind& kind = sorted[steps[k].kind];
    const std::int64_t far = distance(steps[k], kind);
    if (nearest[steps[k].kind] >= 0 && far >= nearest[steps[k].kind]) continue;
    nearest[steps[k].kind] = far;
    kind.typical = k;
  }
  return sorted;
}

}  // namespace mindtorch::analyze
