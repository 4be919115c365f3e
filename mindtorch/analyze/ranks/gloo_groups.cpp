// Threads to groups.
#include "mindtorch/analyze/ranks/gloo_groups.h"

#include <algorithm>
#include <map>
#include <span>

namespace mindtorch::analyze {
namespace {

using Threads = std::vector<std::int64_t>;  // in the order of their numbers, which is the order in which they were started

// The worker threads of each group, in the order of the groups. Empty if it is not known.
using Division = std::vector<Threads>;

// --- by counts ---

// Cuts the threads into one run for each group, so that the threads of a run ran as many collectives as the group counted. Calls between
// two ranks run on the threads of callers, and groups count them too: `elsewhere` of them are on no worker thread.
class CutByCounts {
 public:
  CutByCounts(std::span<const std::int64_t> ran, std::span<const std::int64_t> counted) : ran_(ran), counted_(counted) {}

  // For each group, the place behind its last thread. Empty unless there is exactly one way to cut.
  std::vector<std::size_t> find(std::int64_t elsewhere) {
    cut(0, elsewhere);
    return ways_ == 1 ? found_ : std::vector<std::size_t>();
  }

 private:
  // Tries all runs for the next group that begin with `thread`.
  void cut(std::size_t thread, std::int64_t elsewhere) {
    const std::size_t group = ends_.size();
    if (group == counted_.size()) {
      if (thread != ran_.size() || elsewhere != 0) return;
      ++ways_;
      found_ = ends_;
      return;
    }
    std::int64_t missing = counted_[group];
    for (std::size_t end = thread; missing >= 0 && ways_ < 2; missing -= ran_[end++]) {
      if (missing <= elsewhere) {
        ends_.push_back(end);
        cut(end, elsewhere - missing);
        ends_.pop_back();
      }
      if (end == ran_.size()) break;
    }
  }

  std::span<const std::int64_t> ran_;
  std::span<const std::int64_t> counted_;
  std::vector<std::size_t> ends_, found_;
  int ways_ = 0;
};

struct RanOnThreads {
  std::map<std::int64_t, std::int64_t> on_workers;  // thread -> collectives
  std::int64_t between_two = 0;
};

Division divide_by_counts(const RanOnThreads& ran, std::span<const trace::RankGroup> groups) {
  std::vector<std::int64_t> counted, collectives;
  Threads threads;
  for (const trace::RankGroup& group : groups) {
    if (group.collectives < 0) return {};
    counted.push_back(group.collectives);
  }
  for (const auto& [thread, count] : ran.on_workers) {
    threads.push_back(thread);
    collectives.push_back(count);
  }
  Division division;
  std::size_t begin = 0;
  for (const std::size_t end : CutByCounts(collectives, counted).find(ran.between_two)) {
    division.emplace_back(threads.begin() + static_cast<std::ptrdiff_t>(begin), threads.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return division;
}

// --- by neighbours, where nothing was counted ---

constexpr std::size_t kThreadsOfGroup = 2;  // unless the program sets another number

// Threads of one group are started right after each other; other threads are started between two groups. Of a group that had little to do,
// only one thread may have worked.
Division neighbours(const RanOnThreads& ran) {
  Division found;
  for (const auto& [thread, count] : ran.on_workers) {
    if (found.empty() || thread != found.back().back() + 1) found.emplace_back();
    found.back().push_back(thread);
  }
  return found;
}

// All threads of all groups, in pairs.
Division pairs(const RanOnThreads& ran) {
  Division found;
  for (const auto& [thread, count] : ran.on_workers) {
    if (found.empty() || found.back().size() == kThreadsOfGroup) found.emplace_back();
    found.back().push_back(thread);
  }
  return found;
}

Division divide_by_neighbours(const RanOnThreads& ran, std::span<const trace::RankGroup> groups) {
  const auto has_others = [](const trace::RankGroup& group) { return group.ranks.size() > 1; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(groups, has_others));
  const Division parts = ran.on_workers.size() == kThreadsOfGroup * count ? pairs(ran) : neighbours(ran);
  if (parts.size() != count || std::ranges::any_of(parts, [](const Threads& part) { return part.size() > kThreadsOfGroup; })) return {};
  Division division;
  auto next = parts.begin();
  for (const trace::RankGroup& group : groups) division.push_back(has_others(group) ? *next++ : Threads());
  return division;
}

}  // namespace

void name_gloo_groups(const trace::Recording& recording, const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives) {
  const auto has_others = [](const trace::RankGroup& group) { return group.ranks.size() > 1; };
  if (std::ranges::count_if(identity.groups, has_others) < 2) return;
  const auto thread_of = [&](const FoundCollective& c) { return recording.tracks[recording.track_of(c.event)].id; };
  RanOnThreads all, counted;
  for (const FoundCollective& collective : collectives) {
    if (!collective.group.empty() || !recording.name(collective.event).starts_with("gloo:")) return;
    const bool is_counted = recording.clock.base_unix_ns + collective.start_ns <= identity.counted_until_ns;
    for (RanOnThreads* ran : {&all, is_counted ? &counted : nullptr}) {
      if (ran == nullptr) continue;
      is_between_two(collective.kind) ? ++ran->between_two : ++ran->on_workers[thread_of(collective)];
    }
  }
  Division division = divide_by_counts(counted, identity.groups);
  if (division.empty()) division = divide_by_neighbours(all, identity.groups);
  std::map<std::int64_t, const trace::RankGroup*> group_of;
  for (std::size_t k = 0; k < division.size(); ++k) {
    for (const std::int64_t thread : division[k]) group_of[thread] = &identity.groups[k];
  }
  for (FoundCollective& collective : collectives) {
    const auto group = group_of.find(thread_of(collective));
    if (is_between_two(collective.kind) || group == group_of.end()) continue;
    collective.group = group->second->name;
    collective.group_size = static_cast<std::int32_t>(group->second->ranks.size());
  }
}

}  // namespace mindtorch::analyze
