// Collapsed stacks: self times gathered by stack.
#include "mindtorch/analyze/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

constexpr std::array<std::string_view, 4> kMetrics = {"self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
                                                      "self_privateuse1_time_total"};
// torch_npu's name, and the name that torch's tables use for any device.
constexpr std::array<std::string_view, 2> kOtherNamesOfTheDevice = {"self_npu_time_total", "self_device_time_total"};

CollapsedStack collapse(const std::vector<std::string>& innermost_first, std::int64_t weight_ns) {
  CollapsedStack stack{{}, weight_ns};
  std::transform(innermost_first.rbegin(), innermost_first.rend(), std::back_inserter(stack.frames), plain_frame);
  return stack;
}

struct Weight {
  std::int64_t ns = 0;
  std::int64_t first_start_ns = std::numeric_limits<std::int64_t>::max();
};

// The time of one recorded stack, above 0.
struct StackTime {
  StackId stack;
  std::int64_t ns;
};

// In the order of first occurrence.
std::vector<StackTime> stack_times(const Analysis& analysis, bool on_device) {
  const EventStacks& stacks = analysis.stacks();
  if (stacks.empty()) return {};
  const EventTree& tree = analysis.tree();
  const LaunchLinks& launches = analysis.launches();
  const trace::EventColumns& events = analysis.recording().events;

  std::vector<Weight> weights(analysis.recording().stacks.size());
  for (EventIndex i = 0; i < events.size(); ++i) {
    const auto stack = stacks.of(i);
    if (!stack || !tree.is_node(i)) continue;
    Weight& weight = weights[*stack];
    weight.ns += on_device ? launches.self_ns(i) : tree.self_ns(i);
    weight.first_start_ns = std::min(weight.first_start_ns, events.start_ns[i]);
  }

  std::vector<StackId> order(weights.size());
  std::iota(order.begin(), order.end(), StackId{0});
  std::erase_if(order, [&](StackId stack) { return weights[stack].ns <= 0; });
  std::ranges::stable_sort(order, {}, [&](StackId stack) { return weights[stack].first_start_ns; });
  std::vector<StackTime> times;
  for (const StackId stack : order) times.push_back({stack, weights[stack].ns});
  return times;
}

}  // namespace

std::span<const std::string_view> supported_stack_metrics() { return kMetrics; }

bool is_device_metric(std::string_view metric) {
  if (std::ranges::find(kOtherNamesOfTheDevice, metric) != kOtherNamesOfTheDevice.end()) return true;
  if (std::ranges::find(kMetrics, metric) == kMetrics.end()) {
    throw InvalidArgument(fmt::format("metric should be one of: ['{}']", fmt::join(kMetrics, "', '")));
  }
  return metric != kMetrics[0];
}

std::vector<CollapsedStack> collapsed_stacks(const Analysis& analysis, std::string_view metric) {
  std::vector<CollapsedStack> collapsed;
  for (const StackTime& time : stack_times(analysis, is_device_metric(metric))) {
    CollapsedStack entry = collapse(analysis.stacks().frames(time.stack), time.ns);
    if (!entry.frames.empty()) collapsed.push_back(std::move(entry));
  }
  return collapsed;
}

std::vector<CollapsedStack> collapsed_stacks(const KeyAverages& averages, std::string_view metric) {
  const bool on_device = is_device_metric(metric);
  std::vector<CollapsedStack> collapsed;
  for (const Average& row : averages.rows) {
    const std::int64_t ns = on_device ? row.self_device_time_total_ns : row.self_cpu_time_total_ns;
    if (!row.stack.empty() && ns > 0) collapsed.push_back(collapse(row.stack, ns));
  }
  return collapsed;
}

std::string plain_frame(std::string_view frame) {
  std::string text(frame);
  std::ranges::replace_if(
      text, [](char c) { return c == ' ' || c == ';' || c == '\t' || c == '\n' || c == '\r'; }, '_');
  // Some readers, as Python's str.splitlines(), end a line at U+2028 and U+2029 too.
  for (const std::string_view separator : {"\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, at)) {
      text[at] = '_';
      text.erase(at + 1, separator.size() - 1);
    }
  }
  return without_controls(text);
}

std::int64_t stack_weight(std::int64_t ns) { return (ns + 999) / 1000; }

std::string collapsed_text(std::span<const CollapsedStack> stacks) {
  std::string text;
  for (const CollapsedStack& stack : stacks) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", fmt::join(stack.frames, ";"), stack_weight(stack.weight_ns));
  }
  return text;
}

}  // namespace mindtorch::analyze
