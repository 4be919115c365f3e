// ExecutionTrace: the C++ counterpart of torch's ExecutionTraceObserver. It writes the calls, their callers and their arguments as a Chakra
// execution trace.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/observer.h"
#include "mindtorch/record/call_details.h"
#include "mindtorch/record/session.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

// Between start() and stop() it collects what the running profile records. Ops of torch have inputs, outputs and schemas whatever the
// profile records, if the profile begins after register_output(); other ops have inputs if the profile records shapes. Without a running
// profile it records by itself, until a profile starts and after it has stopped. A process has at most one trace at a time. Calls must come
// from one thread at a time.
//
//   profiler::ExecutionTrace trace;
//   trace.register_output("et.json");
//   trace.start(); ...; trace.stop();
//   trace.unregister();  // writes the file
class MINDTORCH_EXPORT ExecutionTrace final : public ExecutionObserver, public record::RecordingListener {
 public:
  ExecutionTrace() = default;
  // Like unregister(), but never throws.
  ~ExecutionTrace() override;
  ExecutionTrace(const ExecutionTrace&) = delete;
  ExecutionTrace& operator=(const ExecutionTrace&) = delete;

  // The file is written by unregister(). Does nothing if there is an output already. Throws Error if another trace of the process has one.
  void register_output(std::string path);
  // Stops, writes the file (".gz": compressed), forgets what was collected. Throws IoError; the trace is then unregistered all the same.
  void unregister();
  // A JSON text about the process groups of the job. It becomes a node of the trace.
  void set_process_groups(std::string json) { process_groups_ = std::move(json); }
  bool registered() const noexcept { return registered_; }
  bool running() const noexcept { return running_; }

  // Do nothing without an output. May be repeated: the file holds all stretches between a start and a stop.
  void start() override;
  void stop() override;
  void cleanup() override { unregister(); }

  // A profile is about to record, and has stopped: a trace that records by itself stops meanwhile.
  static void make_way();
  static void go_on();

 private:
  // Records until a profile does, if none does now.
  void record_alone();
  void recorded(const trace::Recording& recording) noexcept override;
  void write(const record::CallDetailsById& details) const;

  std::string path_;
  std::string process_groups_;
  bool registered_ = false;
  bool running_ = false;
  std::unique_ptr<record::Session> session_;  // where no profile records

  std::mutex mutex_;                                            // what follows; recorded() comes from the thread that stops a profile
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_;  // Unix time in nanoseconds; the last one is open while running
  trace::Recording collected_;
  bool has_recording_ = false;
  bool lost_ = false;
};

}  // namespace mindtorch::profiler
