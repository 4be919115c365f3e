// Makes the summary of a rank and keeps it small.
#include "mindtorch/analyze/ranks/rank_summary.h"

#include <algorithm>
#include <map>

#include "mindtorch/analyze/memory_timeline.h"
#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/analyze/ranks/device_use.h"
#include "mindtorch/analyze/ranks/gloo_groups.h"
#include "mindtorch/analyze/ranks/messages.h"
#include "mindtorch/analyze/ranks/step_use.h"
#include "mindtorch/analyze/ranks/work_times.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

constexpr std::array<std::string_view, kTimeUses> kUseNames = {"compute",           "copies", "exposed communication", "data loading",
                                                               "waiting to launch", "host"};
constexpr std::array<std::string_view, 4> kWorkKindNames = {"op", "scope", "kernel", "python"};

std::string short_name(std::string_view name) { return valid_utf8(name.substr(0, kLongestRankName)); }

// Events that are unfinished are there, those that were overwritten were not wanted, and the damage of a file is told on its own.
bool is_loss(trace::LossReason reason) {
  using trace::LossReason;
  return reason != LossReason::kUnfinished && reason != LossReason::kOverwritten && reason != LossReason::kDamagedFile;
}

class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) { ids_.emplace("", 0); }
  std::uint32_t id(std::string_view name) {
    const auto [at, is_new] = ids_.try_emplace(short_name(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(at->first);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

void add_collectives(std::span<const FoundCollective> found, const Phases& phases, std::int64_t base_ns, RankSummary& summary) {
  const std::size_t kept = std::min(found.size(), kMostRankCollectives);
  summary.collectives_left_out = found.size() - kept;
  Names names(summary.names);
  for (const FoundCollective& collective : found.last(kept)) {
    const std::int64_t step = phases.has_steps() ? phases.step_at(collective.start_ns) : -1;
    summary.collectives.push_back({.name = names.id(collective.name),
                                   .group = names.id(collective.group),
                                   .kind = collective.kind,
                                   .is_finished = collective.is_finished,
                                   .group_size = collective.group_size,
                                   .step = step < 0 ? -1 : phases.steps()[static_cast<std::size_t>(step)].number,
                                   .sequence = collective.sequence,
                                   .bytes = collective.bytes,
                                   .peer = static_cast<std::int32_t>(collective.peer),
                                   .tag = static_cast<std::int32_t>(collective.tag),
                                   .start_ns = base_ns + collective.start_ns,
                                   .end_ns = base_ns + collective.end_ns});
  }
}

void add_steps(std::vector<RankStep> steps, std::int64_t base_ns, RankSummary& summary) {
  const std::size_t kept = std::min(steps.size(), kMostRankSteps);
  summary.steps_left_out = steps.size() - kept;
  steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(kept));
  for (RankStep& step : steps) step.start_ns += base_ns;
  summary.steps = std::move(steps);
}

void add_work(std::vector<RankWork> work, RankSummary& summary) {
  const std::size_t steps = std::max<std::size_t>(1, summary.steps.size());
  work.resize(std::min({work.size(), kMostRankWork, std::max<std::size_t>(1, kMostRankWorkValues / steps)}));
  for (RankWork& row : work) {
    row.name = short_name(row.name);
    row.seconds.erase(row.seconds.begin(), row.seconds.end() - static_cast<std::ptrdiff_t>(summary.steps.size()));
  }
  summary.work = std::move(work);
}

}  // namespace

std::string_view time_use_name(TimeUse use) { return kUseNames[static_cast<std::size_t>(use)]; }
std::string_view work_kind_name(RankWork::Kind kind) { return kWorkKindNames[static_cast<std::size_t>(kind)]; }

std::vector<std::string_view> rank_attributes() {
  const std::span<const std::string_view> keys = collective_attributes();
  std::vector<std::string_view> all(keys.begin(), keys.end());
  all.push_back(trace::kCaptureCorrelation);
  return all;
}

RankSummary summarize_rank(const Analysis& analysis, const trace::RankIdentity& identity) {
  const trace::Recording& recording = analysis.recording();
  const Phases phases(analysis, Phases::Times::kStepsOnly);
  std::vector<FoundCollective> collectives = find_collectives(analysis);
  name_gloo_groups(recording, identity, collectives);
  read_message_calls(recording, collectives);
  find_peer_ranks(identity, collectives);
  const std::int64_t base_ns = recording.clock.base_unix_ns;
  RankSummary summary;
  summary.identity = identity;
  summary.events = recording.events.size();
  for (const trace::Loss& loss : recording.losses) {
    if (is_loss(loss.reason)) summary.lost_events += loss.count;
  }
  summary.start_ns = base_ns + recording.clock.start_ns;
  summary.end_ns = base_ns + recording.clock.end_ns;
  summary.has_device_work = phases.has_device_work();
  summary.has_step_marks = phases.has_steps();
  add_collectives(collectives, phases, base_ns, summary);
  add_steps(step_use(analysis, phases, collectives), base_ns, summary);
  add_work(work_times(analysis, phases, collectives), summary);
  summary.devices = device_use(recording, collectives);
  for (const trace::Device device : memory_devices(recording)) summary.memory.push_back({device, memory_timeline(analysis, device).peak});
  return summary;
}

}  // namespace mindtorch::analyze
