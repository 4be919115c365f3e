// Results: keeping the last cycle, appending cycles.
#include "mindtorch/profiler/results.h"

#include <utility>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/record/event_ids.h"
#include "mindtorch/record/spilled.h"
#include "mindtorch/trace/append.h"

namespace mindtorch::profiler {
namespace {

// A file that this process has written may take whatever memory it needs.
trace::LoadResult load_spilled(const std::string& path) { return ingest::load_recording(path, {.max_memory = ingest::kUnlimitedMemory}); }

std::shared_ptr<const trace::Recording> or_nothing(const std::shared_ptr<const trace::Recording>& recording) {
  return recording ? recording : std::make_shared<const trace::Recording>();
}

}  // namespace

void Results::keep(trace::Recording recording) {
  const std::lock_guard lock(mutex_);
  keep_last(std::move(recording));
}

void Results::keep_last(trace::Recording recording) {
  for (const auto& [key, json] : metadata_) recording.metadata[key] = json;
  last_ = std::make_shared<trace::Recording>(std::move(recording));
  readers_ = std::make_shared<Readers>();
  metadata_changed_ = false;
  analysis_.reset();
  if (!accumulate_ || !all_) {
    all_ = last_;
    return;
  }
  // A caller may still read a recording that was handed out. In that case the earlier cycles are copied and not changed.
  if (all_.use_count() > 1) all_ = std::make_shared<trace::Recording>(*all_);
  trace::append(*all_, *last_);
  all_->trace_id = last_->trace_id;
  record::assign_event_ids(*all_);
}

void Results::keep_spilled(trace::Recording recording, std::string path) {
  const std::lock_guard lock(mutex_);
  if (!accumulate_) {
    keep_last(std::move(recording));
    spilled_to_ = std::move(path);
    return;
  }
  keep_last(record::merge_spilled(recording, load_spilled(path), path));
}

void Results::forget_spilled() {
  const std::lock_guard lock(mutex_);
  spilled_to_.clear();
}

// The same cycle in another object.
void Results::replace_last(trace::Recording recording) const {
  const bool is_all = all_ == last_;
  last_ = std::make_shared<trace::Recording>(std::move(recording));
  all_ = is_all ? last_ : std::make_shared<trace::Recording>(*all_);
  readers_ = std::make_shared<Readers>();
}

void Results::read_spilled() const {
  if (spilled_to_.empty()) return;
  replace_last(record::merge_spilled(*last_, load_spilled(spilled_to_), spilled_to_));
  spilled_to_.clear();
}

void Results::write_metadata() const {
  for (const auto& [key, json] : metadata_) last_->metadata[key] = all_->metadata[key] = json;
  metadata_changed_ = false;
}

void Results::set_metadata(const std::string& key, const std::string& json) {
  const std::lock_guard lock(mutex_);
  metadata_[key] = json;
  if (!last_) return;
  metadata_changed_ = true;
  if (!is_last_being_read()) write_metadata();
}

void Results::set_accumulate(bool on) {
  const std::lock_guard lock(mutex_);
  accumulate_ = on;
}

bool Results::empty() const noexcept {
  const std::lock_guard lock(mutex_);
  return last_ == nullptr;
}

std::map<std::string, std::string> Results::metadata() const {
  const std::lock_guard lock(mutex_);
  return metadata_;
}

std::shared_ptr<const trace::Recording> Results::handed_out(const std::shared_ptr<trace::Recording>& recording) const {
  if (metadata_changed_) {
    if (is_last_being_read()) replace_last(*last_);
    write_metadata();
  }
  readers_->fetch_add(1, std::memory_order_relaxed);
  const auto let_go = [kept = recording, readers = readers_](const trace::Recording*) { readers->fetch_sub(1, std::memory_order_release); };
  return {recording.get(), let_go};
}

std::shared_ptr<const trace::Recording> Results::last_cycle() const {
  const std::lock_guard lock(mutex_);
  read_spilled();
  return last_ ? handed_out(last_) : or_nothing(last_);
}

std::shared_ptr<const trace::Recording> Results::events() const {
  const std::lock_guard lock(mutex_);
  read_spilled();
  return all_ ? handed_out(all_) : or_nothing(all_);
}

std::shared_ptr<const analyze::Analysis> Results::analysis() const {
  const std::lock_guard lock(mutex_);
  read_spilled();
  if (!analysis_) analysis_ = std::make_shared<const analyze::Analysis>(or_nothing(all_));
  return analysis_;
}

}  // namespace mindtorch::profiler
