// Results: keeping the last cycle, appending cycles.
#include "mindtorch/profiler/results.h"

#include <utility>

namespace mindtorch::profiler {
namespace {

std::shared_ptr<const trace::Recording> or_nothing(std::shared_ptr<const trace::Recording> recording) {
  return recording ? recording : std::make_shared<const trace::Recording>();
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

void Results::set_metadata(const std::string& key, const std::string& json) {
  metadata_[key] = json;
  if (last_) last_->metadata[key] = json;
  if (all_) all_->metadata[key] = json;
}

std::shared_ptr<const trace::Recording> Results::last_cycle() const { return or_nothing(last_); }

std::shared_ptr<const trace::Recording> Results::events() const { return or_nothing(all_); }

std::shared_ptr<const analyze::Analysis> Results::analysis() const {
  if (!analysis_) analysis_ = std::make_shared<const analyze::Analysis>(events());
  return analysis_;
}

}  // namespace mindtorch::profiler
