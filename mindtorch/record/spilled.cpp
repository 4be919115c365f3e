// Reads back the events that a session has spilled.
#include "mindtorch/record/spilled.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include "mindtorch/base/error.h"
#include "mindtorch/record/event_ids.h"

namespace mindtorch::record {
namespace {

using trace::LossReason;

std::string value_of(const trace::Recording& recording, const char* key) {
  const auto found = recording.metadata.find(key);
  return found == recording.metadata.end() ? "" : found->second;
}

std::uint64_t number_of(const trace::Recording& recording, const char* key) {
  const std::string text = value_of(recording, key);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool has_loss(const trace::Recording& recording, LossReason reason) {
  return std::ranges::any_of(recording.losses, [&](const trace::Loss& loss) { return loss.reason == reason; });
}

// The losses of the session, and those that the file has suffered since.
std::vector<trace::Loss> losses_of(const trace::Recording& summary, const trace::LoadResult& file, const std::string& path) {
  std::vector<trace::Loss> losses = summary.losses;
  const std::uint64_t written = number_of(summary, kSpillEvents);
  const std::uint64_t missing = written - std::min<std::uint64_t>(written, file.recording.events.size());
  // A file that could not be written to its end is incomplete from the start, and its loss has been counted.
  if (missing == 0 && (!file.damage || has_loss(summary, LossReason::kSpillFailed))) return losses;
  losses.push_back({LossReason::kDamagedFile, missing, path, file.damage.value_or("events are missing")});
  // Ends of scopes are missing too, so the scopes that the file contains as unfinished are counted instead.
  std::erase_if(losses, [](const trace::Loss& loss) { return loss.reason == LossReason::kUnfinished; });
  std::ranges::copy_if(file.recording.losses, std::back_inserter(losses),
                       [](const trace::Loss& loss) { return loss.reason == LossReason::kUnfinished; });
  return losses;
}

}  // namespace

trace::Recording merge_spilled(const trace::Recording& summary, trace::LoadResult file, const std::string& path) {
  if (value_of(file.recording, kSpillId) != value_of(summary, kSpillId))
    throw IoError(
        ESTALE, path,
        fmt::format("[record.merge_spilled] the spill file '{}' no longer holds the events of this recording: it was written anew", path));
  std::vector<trace::Loss> losses = losses_of(summary, file, path);
  trace::Recording whole = std::move(file.recording);
  whole.metadata = summary.metadata;
  whole.options = summary.options;
  whole.devices = summary.devices;
  whole.trace_id = summary.trace_id;
  whole.steps = summary.steps;
  whole.losses = std::move(losses);
  assign_event_ids(whole);
  return whole;
}

}  // namespace mindtorch::record
