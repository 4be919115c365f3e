// Looks for the calls on the thread of each message.
#include "mindtorch/analyze/ranks/messages.h"

#include <algorithm>
#include <map>
#include <optional>

#include "mindtorch/analyze/arguments.h"

namespace mindtorch::analyze {
namespace {

// torch's ops are c10d::send(tensors, group, destination, tag) and c10d::recv_(tensors, group, source, tag). c10d::recv_any_source_ has a
// tag only.
constexpr std::string_view kSendCall = "c10d::send", kReceiveCall = "c10d::recv_";

CollectiveKind kind_of_call(std::string_view name) {
  if (name == kSendCall) return CollectiveKind::kSend;
  return name == kReceiveCall ? CollectiveKind::kReceive : CollectiveKind::kOther;
}

struct Target {
  std::int64_t peer, tag;
};

std::optional<Target> target_of(const trace::Recording& recording, EventIndex call) {
  const auto words = recording.inputs.find(call);
  if (words.empty()) return std::nullopt;
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  std::vector<std::int64_t> numbers;
  for (const Argument& argument : arguments) {
    if (argument.kind == trace::Input::Kind::kInt) numbers.push_back(argument.values.front());
  }
  return numbers.size() == 2 ? std::optional(Target{numbers[0], numbers[1]}) : std::nullopt;
}

// The calls of a thread, in order of time; none is inside of another.
class Calls {
 public:
  Calls(const trace::Recording& recording, const trace::Track& track) : recording_(recording) {
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (kind_of_call(recording.name(i)) != CollectiveKind::kOther) calls_.push_back(i);
    }
  }

  // The call in which a message began; kNoEvent if there is none.
  EventIndex around(const FoundCollective& message) const {
    const auto start_of = [&](EventIndex call) { return recording_.events.start_ns[call]; };
    const auto after = std::ranges::upper_bound(calls_, message.start_ns, {}, start_of);
    if (after == calls_.begin()) return kNoEvent;
    const EventIndex call = *(after - 1);
    const bool is_around = recording_.events.end_ns(call) >= message.start_ns && kind_of_call(recording_.name(call)) == message.kind;
    return is_around ? call : kNoEvent;
  }

 private:
  const trace::Recording& recording_;
  std::vector<EventIndex> calls_;
};

// The rank of the job at a place of a group. Where the group is not known, all groups that have such a place must agree.
std::int64_t rank_at(const trace::RankIdentity& identity, const std::string& group, std::int64_t place) {
  std::int64_t rank = -1;
  bool is_listed = false;
  for (const trace::RankGroup& known : identity.groups) {
    if (known.ranks.empty() || (!group.empty() && known.name != group)) continue;
    is_listed = true;
    if (place < 0 || static_cast<std::size_t>(place) >= known.ranks.size()) continue;
    const std::int64_t candidate = known.ranks[static_cast<std::size_t>(place)];
    if (candidate == identity.rank) continue;  // no rank sends to itself
    if (rank >= 0 && rank != candidate) return -1;
    rank = candidate;
  }
  return is_listed ? rank : place;
}

}  // namespace

void read_message_calls(const trace::Recording& recording, std::vector<FoundCollective>& collectives) {
  std::map<trace::TrackId, Calls> calls;
  for (FoundCollective& collective : collectives) {
    if (!is_between_two(collective.kind) || collective.peer >= 0) continue;
    const trace::TrackId track = recording.track_of(collective.event);
    const Calls& of_track = calls.try_emplace(track, recording, recording.tracks[track]).first->second;
    const EventIndex call = of_track.around(collective);
    if (call == kNoEvent) continue;
    collective.call = call;
    collective.start_ns = recording.events.start_ns[call];
    if (const std::optional<Target> target = target_of(recording, call)) {
      collective.peer = target->peer;
      collective.tag = target->tag;
    }
  }
  std::ranges::stable_sort(collectives, {}, &FoundCollective::start_ns);
}

void find_peer_ranks(const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives) {
  for (FoundCollective& collective : collectives) {
    if (is_between_two(collective.kind) && collective.peer >= 0) collective.peer = rank_at(identity, collective.group, collective.peer);
  }
}

}  // namespace mindtorch::analyze
