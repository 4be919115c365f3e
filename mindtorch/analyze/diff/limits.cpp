// Limits: metrics of two runs, compared and judged.
#include "mindtorch/analyze/diff/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "mindtorch/analyze/units.h"
#include "mindtorch/base/error.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

constexpr std::string_view kOpPrefix = "op:", kCallsPrefix = "calls:", kPeakMemory = "peak_memory";

// The chance that equal runs are found to differ, for all limits of one check together and upwards only. Half of what is promised: the
// correlation of neighbouring steps is an estimate itself.
constexpr double kErrorOfCheck = 0.005;

bool is_known(std::string_view metric) {
  if (metric == "step_time" || metric == "device_time" || metric == kPeakMemory) return true;
  return (metric.starts_with(kOpPrefix) && metric.size() > kOpPrefix.size()) ||
         (metric.starts_with(kCallsPrefix) && metric.size() > kCallsPrefix.size());
}

// Values per step of all rows of one name. An op's time is its own on the host and that of the device work it launched.
struct NamedWork {
  bool is_there = false;
  std::vector<double> values;
};

NamedWork named_work(const StepProfile& profile, std::string_view name, bool calls) {
  NamedWork work{.values = std::vector<double>(profile.step_time.size(), 0.0)};
  for (const WorkRow& row : profile.rows) {
    if (row.key.name != name) continue;
    work.is_there = true;
    for (std::size_t step = 0; step < work.values.size(); ++step)
      work.values[step] += calls ? row.calls[step] : row.time[step] + row.launched[step];
  }
  return work;
}

Verdict::Outcome judge(const Shift& shift, double share) {
  const double allowed = shift.before * share;
  if (shift.low > allowed) return Verdict::Outcome::kExceeded;
  if (std::isinf(shift.low)) return Verdict::Outcome::kUnclear;  // too few steps to tell anything
  // Only a change that is above the limit in the estimate, and not explained by noise alone, leaves a doubt worth reporting.
  return shift.change > allowed && shift.low > 0 ? Verdict::Outcome::kUnclear : Verdict::Outcome::kWithin;
}

Verdict verdict(const Limit& limit, std::string subject, const Shift& shift) {
  return {limit, std::move(subject), judge(shift, limit.share), shift};
}

void check_named(const StepProfile& baseline, const StepProfile& run, const Limit& limit, double error, std::vector<Verdict>& out) {
  const bool calls = limit.metric.starts_with(kCallsPrefix);
  const std::string_view name = std::string_view(limit.metric).substr(calls ? kCallsPrefix.size() : kOpPrefix.size());
  const NamedWork before = named_work(baseline, name, calls), after = named_work(run, name, calls);
  if (!before.is_there && !after.is_there)
    throw_error<InvalidArgument>("analyze.check_limits", "neither run has an op or a kernel named '{}'", name);
  out.push_back(verdict(limit, limit.metric, compare_runs(before.values, after.values, error)));
}

void check_peaks(const StepProfile& baseline, const StepProfile& run, const Limit& limit, std::vector<Verdict>& out) {
  if (run.peaks.empty() || baseline.peaks.empty())
    throw_error<InvalidArgument>("analyze.check_limits", "peak_memory needs memory in both runs: record them with profile_memory=True");
  for (const DevicePeak& peak : run.peaks) {
    const auto known = std::ranges::find(baseline.peaks, peak.device, &DevicePeak::device);
    const double before = known != baseline.peaks.end() ? static_cast<double>(known->bytes) : 0, after = static_cast<double>(peak.bytes);
    const double change = after - before;
    out.push_back(
        verdict(limit, fmt::format("{} of {}", kPeakMemory, trace::device_text(peak.device)), {before, after, change, change, change}));
  }
}

std::string value_text(std::string_view metric, double value) {
  if (metric == kPeakMemory) return format_memory(std::llround(value));
  if (metric.starts_with(kCallsPrefix)) return fmt::format("{:g} calls", value);
  return format_time(value / 1000);
}

std::string share_text(const Shift& shift, double value) {
  return shift.before == 0 ? "new" : fmt::format("{:+.1f}%", 100 * shift.relative(value));
}

// Reads "metric=percent%". `example` is told where the text is wrong, and `metrics` where none of them is meant.
template <class IsKnown>
Limit parse(std::string_view text, std::string_view example, std::string_view metrics, IsKnown is_known_metric) {
  const auto refuse = [&](std::string_view why) {
    throw_error<InvalidArgument>("analyze.parse_limit", "'{}' is not a limit such as {}: {}", text, example, why);
  };
  // Names of ops may hold '=', the amount cannot.
  const std::size_t equals = text.rfind('=');
  if (equals == text.npos) refuse("there is no '='");
  Limit limit{.metric = std::string(text.substr(0, equals))};
  if (!is_known_metric(limit.metric)) refuse(metrics);
  std::string_view amount = text.substr(equals + 1);
  if (amount.starts_with('+')) amount.remove_prefix(1);
  if (!amount.ends_with('%')) refuse("the amount must end in '%'");
  amount.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), percent);
  if (error != std::errc() || end != amount.data() + amount.size() || !std::isfinite(percent)) refuse("the amount is not a number");
  limit.share = percent / 100;
  return limit;
}

}  // namespace

Limit parse_limit(std::string_view text) {
  return parse(text, "step_time=+3%", "the metrics are step_time, device_time, peak_memory, op:NAME and calls:NAME", is_known);
}

Limit parse_least(std::string_view text) {
  Limit limit =
      parse(text, "mfu=40%", "the metrics are mfu and hfu", [](std::string_view metric) { return metric == "mfu" || metric == "hfu"; });
  limit.is_least = true;
  return limit;
}

std::vector<Verdict> check_least(const Efficiency& efficiency, std::span<const Limit> limits) {
  std::vector<Verdict> verdicts;
  for (const Limit& limit : limits) {
    const std::optional<double> value = limit.metric == "mfu" ? efficiency.mfu : efficiency.hfu;
    if (!value) throw_error<InvalidArgument>("analyze.check_least", "{} is not known. {}", limit.metric, efficiency.summary());
    verdicts.push_back({limit, limit.metric, *value < limit.share ? Verdict::Outcome::kExceeded : Verdict::Outcome::kWithin,
                        Shift{.before = limit.share, .after = *value, .change = *value - limit.share, .low = 0, .high = 0}});
  }
  return verdicts;
}

std::vector<Verdict> check_limits(const StepProfile& baseline, const StepProfile& run, std::span<const Limit> limits) {
  // An interval that misses on both sides with probability 2e misses upwards with probability e.
  const double error = 2 * kErrorOfCheck / static_cast<double>(std::max<std::size_t>(1, limits.size()));
  std::vector<Verdict> verdicts;
  for (const Limit& limit : limits) {
    if (limit.metric == "step_time") {
      verdicts.push_back(verdict(limit, limit.metric, compare_runs(baseline.step_time, run.step_time, error)));
    } else if (limit.metric == "device_time") {
      verdicts.push_back(verdict(limit, limit.metric, compare_runs(baseline.device_time, run.device_time, error)));
    } else if (limit.metric == kPeakMemory) {
      check_peaks(baseline, run, limit, verdicts);
    } else {
      check_named(baseline, run, limit, error, verdicts);
    }
  }
  for (Verdict& each : verdicts) each.has_steps = baseline.has_steps && run.has_steps;
  return verdicts;
}

std::string Verdict::text() const {
  if (limit.is_least) return fmt::format("{}: {:.1f}%, at least {:g}% is asked for", subject, 100 * shift.after, 100 * shift.before);
  std::string text = fmt::format("{}: {} -> {}, {}", subject, value_text(limit.metric, shift.before), value_text(limit.metric, shift.after),
                                 share_text(shift, shift.change));
  if (limit.metric != kPeakMemory && std::isfinite(shift.low))
    text += fmt::format(" ({} .. {})", share_text(shift, shift.low), share_text(shift, shift.high));
  text += fmt::format(", limit {:+g}%", 100 * limit.share);
  if (outcome == Outcome::kUnclear)
    text += has_steps ? "; more steps are needed to tell" : "; a run without steps is a single value, which cannot be told from noise";
  return text;
}

}  // namespace mindtorch::analyze
