// A device source for tests: says what it is told to say, gives one kernel.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::profiler {

class FakeSource : public record::ActivitySource {
 public:
  FakeSource(std::string name, trace::DeviceType type, std::string why_not = "")
      : name_(std::move(name)), type_(type), why_not_(std::move(why_not)) {}

  std::string_view name() const override { return name_; }
  trace::DeviceType device_type() const override { return type_; }
  Status probe() override { return why_not_.empty() ? Status::ok() : Status::unavailable(why_not_); }
  Status prepare(const record::SourceOptions& options) override {
    clock_ = &options.clock;
    return Status::ok();
  }
  Status start() override {
    ++starts;
    began_ = clock_->ticks();
    return Status::ok();
  }
  void toggle(bool on) override { toggles.push_back(on); }
  record::DeviceBatch stop() override {
    record::DeviceBatch batch;
    batch.clocks.push_back({.name = name_, .is_session_clock = true});
    batch.records.push_back(
        {.start = began_, .end = clock_->ticks(), .name = batch.name_id(name_ + "_kernel"), .lane = 1, .device = {type_, 0}});
    return batch;
  }

  int starts = 0;
  std::vector<bool> toggles;

 private:
  std::string name_;
  trace::DeviceType type_;
  std::string why_not_;
  record::Clock* clock_ = nullptr;
  std::uint64_t began_ = 0;
};

}  // namespace mindtorch::profiler
