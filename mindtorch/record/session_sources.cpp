// SessionSources: the life of sources within a session.
#include "mindtorch/record/session_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace mindtorch::record {

void SessionSources::prepare(const std::vector<ActivitySource*>& sources, OptionsFor options_for) {
  options_for_ = std::move(options_for);
  for (ActivitySource* source : sources) {
    if (succeeds(*source, source->prepare(options_for_(*source)))) usable_.push_back(source);
    note_limits(*source);
  }
}

void SessionSources::start() {
  for (ActivitySource* source : usable_) {
    if (succeeds(*source, source->start())) started_.push_back(source);
    note_limits(*source);
  }
}

void SessionSources::toggle(trace::DeviceType type, bool on) {
  for (ActivitySource* source : started_)
    if (source->device_type() == type) source->toggle(on);
}

void SessionSources::take_from(ActivitySource& source, std::uint64_t now_ticks) {
  batches_.push_back({std::string(source.name()), source.stop(), now_ticks});
  // A sampler notices only at its next look that the session has ended.
  std::vector<ThreadSample>& samples = batches_.back().batch.samples;
  std::erase_if(samples, [&](const ThreadSample& sample) { return sample.start >= now_ticks; });
  for (ThreadSample& sample : samples) sample.end = std::min(sample.end, now_ticks);
}

bool SessionSources::restart(ActivitySource& source) {
  return succeeds(source, source.prepare(options_for_(source))) && succeeds(source, source.start());
}

void SessionSources::collect(std::uint64_t now_ticks, const std::function<std::uint64_t()>& window_start) {
  for (ActivitySource* source : started_) take_from(*source, now_ticks);
  std::erase_if(started_, [&](ActivitySource* source) { return !restart(*source); });
  forget_before(window_start());
}

// Counts stay: they move to the latest batch of the same source.
void SessionSources::forget_before(std::uint64_t window_start) {
  const auto is_old = [&](const SourceBatch& each) { return each.until_ticks < window_start; };
  for (const SourceBatch& old : batches_) {
    if (!is_old(old)) continue;
    const auto latest =
        std::find_if(batches_.rbegin(), batches_.rend(), [&](const SourceBatch& each) { return each.source == old.source; });
    if (is_old(*latest)) continue;
    latest->batch.overwritten += old.batch.overwritten + old.batch.records.size() + old.batch.sample_count();
    latest->batch.dropped += old.batch.dropped;
    if (latest->batch.dropped_detail.empty()) latest->batch.dropped_detail = old.batch.dropped_detail;
  }
  std::erase_if(batches_, is_old);
}

void SessionSources::stop(std::uint64_t now_ticks) {
  std::exception_ptr failure;
  for (ActivitySource* source : std::exchange(started_, {})) {
    try {
      take_from(*source, now_ticks);
    } catch (...) {
      failure = std::current_exception();  // the others must stop, too
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void SessionSources::add_problem(std::string problem) {
  if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
}

bool SessionSources::succeeds(const ActivitySource& source, const Status& status) {
  if (!status) add_problem(fmt::format("source {}: {}", source.name(), status.reason()));
  return static_cast<bool>(status);
}

// A source learns of some limits when it is prepared, and of others when it starts.
void SessionSources::note_limits(const ActivitySource& source) {
  for (const std::string& limit : source.limits()) add_problem(fmt::format("source {}: {}", source.name(), limit));
}

}  // namespace mindtorch::record
