// A recorder and an observer that write down what they are told to do, for tests of the state machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/observer.h"
#include "mindtorch/profiler/recorder.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch::profiler {

using CallLog = std::vector<std::string>;

// The calls in order, and what to refuse. Shared between a test, its recorder, observer and callbacks.
struct Script {
  CallLog calls;
  bool running = false;
  std::vector<std::string> refused;  // names of calls that throw Error("<call> refused")
  std::vector<std::string> problems;
  int ops = 0;  // recorded in the running trace

  // What the profiled program does: one op, recorded if a trace runs.
  void op() { ops += running ? 1 : 0; }
  void say(const std::string& call) {
    calls.push_back(call);
    for (const std::string& name : refused)
      if (name == call) throw_error("test", "{} refused", call);
  }
  CallLog take() { return std::exchange(calls, {}); }
};

class FakeRecorder : public Recorder {
 public:
  explicit FakeRecorder(Script& script) : script_(script) {}

  void prepare(const ProfileOptions&, const std::vector<Activity>&) override { script_.say("prepare"); }
  void start() override {
    script_.say("start");
    script_.running = true;
    script_.ops = 0;
  }
  trace::Recording stop() override {
    script_.running = false;
    script_.say("stop");
    return recorded();
  }
  trace::Recording snapshot(std::chrono::nanoseconds /*last*/) override {
    script_.say("snapshot");
    return recorded();
  }
  void discard() noexcept override {
    script_.running = false;
    script_.calls.push_back("discard");
  }
  void toggle(Activity activity, bool on) override { script_.say(fmt::format("toggle {} {}", activity_name(activity), on ? "on" : "off")); }
  void mark_step(std::int64_t step) override { script_.say(fmt::format("mark {}", step)); }
  void open_step_scope(std::int64_t step) override { script_.say(fmt::format("open {}", step)); }
  void close_step_scope() override { script_.say("close"); }
  std::vector<std::string> problems() const override { return script_.problems; }
  std::int64_t bytes_in_use() const override { return 32 * script_.ops; }

 private:
  trace::Recording recorded() const {
    trace::RecordingBuilder builder;
    const trace::TrackId thread = builder.add_thread(1);
    for (int i = 0; i < script_.ops; ++i) builder.add_event({.name = "op", .track = thread, .start_ns = i});
    return builder.finish();
  }

  Script& script_;
};

class FakeObserver : public ExecutionObserver {
 public:
  explicit FakeObserver(Script& script) : script_(script) {}
  void start() override { script_.say("observer start"); }
  void stop() override { script_.say("observer stop"); }
  void cleanup() override { script_.say("observer cleanup"); }

 private:
  Script& script_;
};

}  // namespace mindtorch::profiler
