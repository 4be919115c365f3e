// Look-ups in a Recording, and its losses.
#include "mindtorch/trace/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace mindtorch::trace {

TrackId Recording::track_of(EventIndex event) const {
  // The last track that starts at or before the event; an empty track starts where the next one does, so it is never the last.
  const auto after =
      std::upper_bound(tracks.begin(), tracks.end(), event, [](EventIndex e, const Track& track) { return e < track.first_event; });
  return static_cast<TrackId>(after - tracks.begin()) - 1;
}

std::int64_t Recording::step_at(std::int64_t time_ns) const {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time_ns, [](std::int64_t t, const StepMark& mark) { return t < mark.time_ns; });
  return after == steps.begin() ? 0 : std::prev(after)->step;
}

void join_many_losses(std::vector<Loss>& losses) {
  constexpr std::size_t kMany = 16;  // rows that a person still reads
  if (losses.size() <= kMany) return;
  std::map<std::pair<LossReason, std::string>, std::size_t> rows;
  for (const Loss& loss : losses) ++rows[{loss.reason, loss.detail}];
  std::map<std::pair<LossReason, std::string>, std::size_t> joined;  // where the row is that stands for all of its kind
  std::vector<Loss> out;
  for (Loss& loss : losses) {
    const std::pair kind(loss.reason, loss.detail);
    if (rows[kind] <= kMany) {
      out.push_back(std::move(loss));
      continue;
    }
    const auto [row, is_new] = joined.try_emplace(kind, out.size());
    if (is_new)
      out.push_back({loss.reason, loss.count, fmt::format("{} threads or streams", rows[kind]), loss.detail});
    else
      out[row->second].count += loss.count;
  }
  losses = std::move(out);
}

}  // namespace mindtorch::trace
