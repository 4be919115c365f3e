// Copies events with times of the common clock. Links are numbered anew, so that no arrow leads to another rank.
#include "mindtorch/analyze/ranks/merge_ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace mindtorch::analyze {
RankMerger::RankMerger(const Job& job, StepRange steps) : job_(job), steps_(steps), collective_at_(job.summaries.size()) {
  for (std::size_t k = 0; k < job.matching.collectives.size(); ++k) {
    const MatchedCollective& collective = job.matching.collectives[k];
    if (collective.parts.size() < 2) continue;
    for (const CollectivePart& part : collective.parts) collective_at_[part.rank][part.start_ns] = static_cast<std::int64_t>(k) + 1;
  }
}

RankMerger::Window RankMerger::window_of(const RankSummary& summary) const {
  if (!summary.has_step_marks) return {INT64_MIN, INT64_MAX};
  Window window{INT64_MAX, INT64_MIN};
  for (const RankStep& step : summary.steps) {
    if (step.number < steps_.first || step.number > steps_.last) continue;
    window.start_ns = std::min(window.start_ns, step.start_ns);
    window.end_ns = std::max(window.end_ns, step.start_ns + step.duration_ns);
  }
  return window;
}

std::vector<trace::TrackId> RankMerger::add_tracks(const trace::Recording& recording, std::int64_t rank) {
  std::vector<trace::TrackId> ids;
  for (const trace::Track& track : recording.tracks) {
    const std::string name = fmt::format("rank {}{}{}", rank, track.name.empty() ? "" : ": ", track.name);
    const bool is_thread = track.kind == trace::Track::Kind::kThread;
    ids.push_back(is_thread ? builder_.add_thread(track.id, name, rank) : builder_.add_stream(track.device, track.id, name, rank));
    if (!is_thread) continue;
    const std::uint32_t number = ids.back() + 1;
    builder_.recording().tracks[ids.back()].number = number;
    threads_.try_emplace(track.number, number);
  }
  return ids;
}

std::uint64_t RankMerger::own_link(trace::EventKind kind, std::uint64_t link) {
  const auto renumbered = [](auto& known, std::uint64_t number, std::uint64_t& last) {
    const auto [at, is_new] = known.try_emplace(number, last + 1);
    if (is_new) ++last;
    return at->second;
  };
  if (link == 0 || kind == trace::EventKind::kStep) return link;
  if (trace::has_correlation(kind)) return renumbered(correlations_, link, last_correlation_);
  const std::int64_t sequence = trace::sequence_of(link);
  if (sequence < 0) return link;
  const auto thread = threads_.find(trace::forward_thread_of(link));
  return trace::make_sequence_link(static_cast<std::int64_t>(renumbered(sequences_, static_cast<std::uint64_t>(sequence), last_sequence_)),
                                   thread == threads_.end() ? 0 : thread->second);
}

void RankMerger::add_attributes(const trace::Recording& recording, EventIndex event, trace::RecordingBuilder::DraftId draft) {
  for (trace::Attribute attribute : recording.attributes.find(event)) {
    trace::map_names(attribute, [&](NameId id) { return builder_.intern(recording.names[id]); });
    builder_.add_attribute(draft, attribute);
  }
}

void RankMerger::add(std::size_t summary_index, const trace::Recording& recording) {
  const RankSummary& summary = job_.summaries[summary_index];
  const RankClock& clock = job_.clocks.clocks[summary_index];
  const Window window = window_of(summary);
  correlations_.clear();
  sequences_.clear();
  threads_.clear();
  const std::vector<trace::TrackId> tracks = add_tracks(recording, summary.identity.rank);
  if (added_ == 0) builder_.recording().clock.base_unix_ns = recording.clock.base_unix_ns;
  for (std::size_t t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const std::int64_t unix_ns = recording.clock.base_unix_ns + recording.events.start_ns[i];
      if (unix_ns < window.start_ns || unix_ns >= window.end_ns) continue;
      const trace::EventKind kind = recording.events.kind[i];
      const auto draft = builder_.add_event({.name = recording.name(i),
                                             .kind = kind,
                                             .track = tracks[t],
                                             .start_ns = clock.to_common(unix_ns) - builder_.recording().clock.base_unix_ns,
                                             .duration_ns = recording.events.duration_ns[i],
                                             .link = own_link(kind, recording.events.link[i]),
                                             .device = recording.events.device[i],
                                             .flags = recording.events.flags[i]});
      add_attributes(recording, i, draft);
      const auto at = collective_at_[summary_index].find(unix_ns);
      const bool may_be_collective = kind == trace::EventKind::kScope || kind == trace::EventKind::kKernel ||
                                     kind == trace::EventKind::kCollective ||
                                     (kind == trace::EventKind::kOp && recording.name(i).starts_with("c10d::"));
      if (may_be_collective && at != collective_at_[summary_index].end()) builder_.add_attribute(draft, kCollectiveFlowKey, at->second);
    }
  }
  ++added_;
}

trace::Recording RankMerger::finish() {
  trace::Recording& recording = builder_.recording();
  bool is_first = true;
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    const std::int64_t start = recording.events.start_ns[i], end = recording.events.end_ns(static_cast<EventIndex>(i));
    recording.clock.start_ns = is_first ? start : std::min(recording.clock.start_ns, start);
    recording.clock.end_ns = is_first ? end : std::max(recording.clock.end_ns, end);
    is_first = false;
  }
  added_ = last_correlation_ = last_sequence_ = 0;
  return builder_.finish();
}

}  // namespace mindtorch::analyze
