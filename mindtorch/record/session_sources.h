// SessionSources: the sources of a session, and what they have handed over. Internal to record.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mindtorch/record/session.h"
#include "mindtorch/record/source.h"

namespace mindtorch::record {

struct SourceBatch {
  std::string source;
  DeviceBatch batch;
  std::uint64_t until_ticks = 0;  // of the session's clock: all of its records are older
};

class SessionSources {
 public:
  using OptionsFor = std::function<SourceOptions(const ActivitySource&)>;

  // Prepares the sources. One that cannot be prepared is told in problems(), and is left out.
  void prepare(const std::vector<ActivitySource*>& sources, OptionsFor options_for);
  void start();
  void toggle(trace::DeviceType type, bool on);

  // Takes what the sources have recorded so far, while the session goes on: they stop, and start again. Work on a device that begins in
  // between is not recorded. Earlier batches that are older than the window are dropped, and counted.
  void collect(std::uint64_t now_ticks, const std::function<std::uint64_t()>& window_start);
  // Stops the sources for good.
  void stop(std::uint64_t now_ticks);
  // What collect() and stop() have taken, oldest first.
  const std::vector<SourceBatch>& batches() const { return batches_; }
  void clear_batches() { batches_ = {}; }

  void add_problem(std::string problem);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void take_from(ActivitySource& source, std::uint64_t now_ticks);
  bool restart(ActivitySource& source);
  void forget_before(std::uint64_t window_start);
  // Adds the reason to the problems if the call failed.
  bool succeeds(const ActivitySource& source, const Status& status);
  void note_limits(const ActivitySource& source);

  OptionsFor options_for_;
  std::vector<ActivitySource*> usable_, started_;
  std::vector<SourceBatch> batches_;
  std::vector<std::string> problems_;
};

}  // namespace mindtorch::record
