// Matches collectives with one hash table over the keys of all ranks.
#include "mindtorch/analyze/ranks/matching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace mindtorch::analyze {
namespace {

// Group, step or sequence number, and place among those of the same group and number.
struct Key {
  std::uint32_t group;
  bool has_sequence;
  std::int64_t number;
  std::uint32_t place;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.number) * 0x9E3779B97F4A7C15;
    hash ^=
        (static_cast<std::uint64_t>(key.group) << 33 | static_cast<std::uint64_t>(key.has_sequence) << 32 | key.place) * 0xC2B2AE3D27D4EB4F;
    return static_cast<std::size_t>(hash ^ hash >> 29);
  }
};

class Matcher {
 public:
  explicit Matcher(std::span<const RankSummary> ranks) : ranks_(ranks) {
    matching_.unmatched.resize(ranks.size());
    for (const RankSummary& rank : ranks) {
      for (const RankStep& step : rank.steps) ++ranks_with_step_[rank.has_step_marks ? step.number : -1];
    }
  }

  Matching finish() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) add(rank);
    if (ranks_.size() > 1) count_unmatched();
    return std::move(matching_);
  }

 private:
  // Groups of one name that list different ranks are different groups.
  std::vector<std::uint32_t> group_ids(const RankSummary& rank) {
    std::vector<std::uint32_t> ids;
    for (const std::string& name : rank.names) {
      const auto listed = std::ranges::find(rank.identity.groups, name, &trace::RankGroup::name);
      std::string text = name;
      if (!name.empty() && listed != rank.identity.groups.end()) text += fmt::format(" {}", fmt::join(listed->ranks, ","));
      ids.push_back(groups_.try_emplace(text, static_cast<std::uint32_t>(groups_.size())).first->second);
    }
    return ids;
  }

  void add(std::uint32_t rank_index) {
    const RankSummary& rank = ranks_[rank_index];
    const std::vector<std::uint32_t> groups = group_ids(rank);
    std::unordered_map<Key, std::uint32_t, KeyHash> places;
    for (const RankCollective& collective : rank.collectives) {
      const bool is_message = is_between_two(collective.kind);
      if (is_message && (collective.peer < 0 || collective.peer == rank.identity.rank)) continue;
      // Each rank counts its messages by itself, so that their numbers differ between two ranks.
      const bool has_sequence = collective.sequence >= 0 && !is_message;
      const std::uint32_t group = is_message ? channel_id(rank, collective) : groups[collective.group];
      Key key{group, has_sequence, has_sequence ? collective.sequence : collective.step, 0};
      key.place = places[key]++;
      take_part(key, rank_index, rank, collective);
    }
  }

  // Where messages keep their order.
  std::uint32_t channel_id(const RankSummary& rank, const RankCollective& message) {
    const bool is_sent = message.kind == CollectiveKind::kSend;
    const std::int64_t own = rank.identity.rank;
    const std::string text = fmt::format("{} from {} to {} with tag {}", rank.names[message.group], is_sent ? own : message.peer,
                                         is_sent ? message.peer : own, message.tag);
    return groups_.try_emplace(text, static_cast<std::uint32_t>(groups_.size())).first->second;
  }

  void take_part(const Key& key, std::uint32_t rank_index, const RankSummary& rank, const RankCollective& collective) {
    const auto [at, is_new] = known_.try_emplace(key, matching_.collectives.size());
    const bool is_message = is_between_two(collective.kind);
    const CollectiveKind kind = is_message ? CollectiveKind::kSend : collective.kind;
    const std::string name = is_message ? std::string(collective_kind_name(kind)) : rank.names[collective.name];
    if (is_new) {
      matching_.collectives.push_back({.name = name,
                                       .group = rank.names[collective.group],
                                       .kind = kind,
                                       .bytes = collective.bytes,
                                       .step = collective.step,
                                       .sequence = collective.sequence});
    }
    MatchedCollective& matched = matching_.collectives[at->second];
    const bool is_same = matched.kind == kind && matched.name == name;
    if (!is_same) {
      ++matching_.unmatched[rank_index];
      return;
    }
    matched.bytes = std::max(matched.bytes, collective.bytes);
    if (!collective.is_finished) {
      matched.is_unfinished = true;
      return;
    }
    if (collective.kind == CollectiveKind::kSend) matched.sender = rank_index;
    matched.parts.push_back({rank_index, collective.start_ns, collective.end_ns});
  }

  void count_unmatched() {
    for (const MatchedCollective& collective : matching_.collectives) {
      if (collective.parts.size() == 1 && !collective.is_unfinished && ranks_with_step_[collective.step] > 1)
        ++matching_.unmatched[collective.parts.front().rank];
    }
  }

  std::span<const RankSummary> ranks_;
  std::map<std::string, std::uint32_t> groups_;
  std::unordered_map<Key, std::size_t, KeyHash> known_;
  std::unordered_map<std::int64_t, std::size_t> ranks_with_step_;
  Matching matching_;
};

}  // namespace

Matching match_collectives(std::span<const RankSummary> ranks) { return Matcher(ranks).finish(); }

}  // namespace mindtorch::analyze
