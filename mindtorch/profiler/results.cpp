// Results: keeping the last cycle, appending cycles.
#include "mindtorch/profiler/results.h"

#include <utility>

#include "mindtorch/trace/file.h"

namespace mindtorch::profiler {
namespace {

std::shared_ptr<const trace::Recording> or_nothing(const std::shared_ptr<const trace::Recording>& recording) {
  return recording ? recording : std::make_shared<const trace::Recording>();
}

// What the file holds, with what the profile has added to the summary of it.
trace::Recording with_events_of(const std::string& path, const trace::Recording& summary) {
  trace::Recording whole = trace::load(path).recording;
  whole.metadata = summary.metadata;
  whole.options = summary.options;
  whole.trace_id = summary.trace_id;
  whole.losses = summary.losses;
  return whole;
}

}  // namespace

void Results::keep(trace::Recording recording) {
  for (const auto& [key, json] : metadata_) recording.metadata[key] = json;
  last_ = std::make_shared<trace::Recording>(std::move(recording));
  analysis_.reset();
  if (!accumulate_ || !all_) {
    all_ = last_;
    return;
  }
  // Somebody may still be reading what was handed out: then the past is copied, not changed.
  if (all_.use_count() > 1) all_ = std::make_shared<trace::Recording>(*all_);
  trace::append(*all_, *last_);
  all_->trace_id = last_->trace_id;
}

void Results::keep_spilled(trace::Recording recording, std::string path) {
  if (!accumulate_) {
    keep(std::move(recording));
    spilled_to_ = std::move(path);
    return;
  }
  keep(with_events_of(path, recording));
}

void Results::read_spilled() const {
  if (spilled_to_.empty()) return;
  last_ = all_ = std::make_shared<trace::Recording>(with_events_of(spilled_to_, *last_));
  spilled_to_.clear();
}

void Results::set_metadata(const std::string& key, const std::string& json) {
  metadata_[key] = json;
  if (last_) last_->metadata[key] = json;
  if (all_) all_->metadata[key] = json;
}

std::shared_ptr<const trace::Recording> Results::last_cycle() const {
  read_spilled();
  return or_nothing(last_);
}

std::shared_ptr<const trace::Recording> Results::events() const {
  read_spilled();
  return or_nothing(all_);
}

std::shared_ptr<const analyze::Analysis> Results::analysis() const {
  if (!analysis_) analysis_ = std::make_shared<const analyze::Analysis>(events());
  return analysis_;
}

}  // namespace mindtorch::profiler
