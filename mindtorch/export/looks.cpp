// One sample becomes as many looks as intervals fit into it.
#include "mindtorch/export/looks.h"

#include <algorithm>
#include <array>

namespace mindtorch::exporter {
namespace {

using trace::ThreadState;

constexpr std::int64_t kMostLooks = 1'000'000;  // of one sample: a damaged file does not fill the disk

bool wants_to_run(ThreadState state) {
  return state == ThreadState::kRunning || state == ThreadState::kCollectsGarbage || state == ThreadState::kNotScheduled ||
         state == ThreadState::kWaitsForGil;
}

}  // namespace

std::vector<std::vector<Look>> looks_of(const trace::Recording& recording) {
  std::vector<std::vector<Look>> looks(recording.tracks.size());
  const trace::SampleColumns& samples = recording.samples;
  const std::int64_t interval = std::max<std::int64_t>(1, recording.options.sampling_interval_ns);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const bool is_repeated = wants_to_run(samples.state[k]) && recording.options.sampling_interval_ns > 0;
    const std::int64_t count = is_repeated ? std::clamp<std::int64_t>(samples.duration_ns[k] / interval, 1, kMostLooks) : 1;
    for (std::int64_t look = 0; look < count; ++look)
      looks[samples.track[k]].push_back({samples.time_ns[k] + look * interval, samples.stack[k], samples.state[k]});
  }
  for (std::vector<Look>& of_track : looks) std::ranges::stable_sort(of_track, {}, &Look::time_ns);
  return looks;
}

std::string_view state_frame(ThreadState state) {
  constexpr std::array<std::string_view, trace::kThreadStates> kFrames = {
      "[unknown]", "", "[waits_for_gil]", "[waits_for_lock]", "[waits_for_io]", "[sleeps]", "[collects_garbage]", "[not_scheduled]"};
  return kFrames[static_cast<std::size_t>(state)];
}

}  // namespace mindtorch::exporter
