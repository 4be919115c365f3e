// Threads to groups.
#include "mindtorch/analyze/ranks/gloo_groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kThreadsOfGroup = 2;

// Threads of one group are started right after each other; other threads are started between two groups. Of a group that had little to do,
// only one thread may have worked.
std::vector<std::vector<std::int64_t>> neighbours(const std::set<std::int64_t>& threads) {
  std::vector<std::vector<std::int64_t>> found;
  for (const std::int64_t thread : threads) {
    if (found.empty() || thread != found.back().back() + 1) found.emplace_back();
    found.back().push_back(thread);
  }
  return found;
}

// All threads of all groups, in pairs.
std::vector<std::vector<std::int64_t>> pairs(const std::set<std::int64_t>& threads) {
  std::vector<std::vector<std::int64_t>> found;
  for (const std::int64_t thread : threads) {
    if (found.empty() || found.back().size() == kThreadsOfGroup) found.emplace_back();
    found.back().push_back(thread);
  }
  return found;
}

}  // namespace

void name_gloo_groups(const trace::Recording& recording, const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives) {
  std::vector<const trace::RankGroup*> groups;
  for (const trace::RankGroup& group : identity.groups) {
    if (group.ranks.size() > 1) groups.push_back(&group);
  }
  if (groups.size() < 2) return;
  const auto is_nameless = [](const FoundCollective& collective) { return collective.group.empty(); };
  const auto thread_of = [&](const FoundCollective& c) { return recording.tracks[recording.track_of(c.event)].id; };
  std::set<std::int64_t> threads;
  for (const FoundCollective& collective : collectives) {
    if (!is_nameless(collective) || !recording.name(collective.event).starts_with("gloo:")) return;
    threads.insert(thread_of(collective));
  }
  const auto parts = threads.size() == kThreadsOfGroup * groups.size() ? pairs(threads) : neighbours(threads);
  const bool is_clear =
      parts.size() == groups.size() && std::ranges::all_of(parts, [](const auto& part) { return part.size() <= kThreadsOfGroup; });
  if (!is_clear) return;
  std::map<std::int64_t, const trace::RankGroup*> group_of;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (const std::int64_t thread : parts[k]) group_of[thread] = groups[k];
  }
  for (FoundCollective& collective : collectives) {
    const trace::RankGroup& group = *group_of.at(thread_of(collective));
    collective.group = group.name;
    collective.group_size = static_cast<std::int32_t>(group.ranks.size());
  }
}

}  // namespace mindtorch::analyze
