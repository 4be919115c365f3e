// Session: prepare -> start -> stop. A process has at most one session at a time. stop() returns everything that was recorded as a
// trace::Recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/source.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// How much memory events may take, and what happens when they need more.
struct Budget {
  enum class Policy {
    kGrow,      // up to `bytes`, then new events are refused and counted
    kKeepLast,  // a ring: the last `keep_steps` steps, or the steps of the last `keep_ns` nanoseconds, or the last `bytes` bytes if both
                // are 0; never more than `bytes`
    kSpill,     // sealed segments go to `spill_path`, a regular file that no other recording is writing; memory stays below `bytes` if the
                // segments that are being filled do; a thread that is faster than the disk waits, and the wait is recorded
  };
  Policy policy = Policy::kGrow;
  std::int64_t bytes = std::int64_t{4} << 30;  // of slots and side data, all threads together
  std::int64_t keep_steps = 0;
  std::int64_t keep_ns = 0;  // counts if keep_steps is 0
  std::string spill_path;
};

// The options for sources.
struct DeviceOptions {
  bool synchronizations = false;                    // waits of the host and of streams too
  bool whole_graphs = false;                        // one event for each replay of a graph instead of one for each of its kernels
  std::chrono::milliseconds stop_deadline{10'000};  // how long stop() may wait for work that is still running on a device
  DeviceExtras extras;
};

struct SessionOptions {
  bool shapes = false;
  bool stacks = false;
  bool memory = false;
  bool modules = false;
  bool overloads = false;
  bool ranges = false;      // what programs and libraries report with NVTX
  bool all_threads = true;  // false: the starting thread and those it admits (ThreadAdmission)
  bool events = true;       // host events (CPU activity); false: device activities alone
  Budget budget;
  DeviceOptions device;
  // How often the sampler of the process (thread_sampler.h) looks at the threads of the host; 0: never.
  std::chrono::nanoseconds sampling_interval{0};
  Clock* clock = nullptr;                // null: system_clock()
  std::vector<ActivitySource*> sources;  // not owned; must outlive the session
};

// Not thread safe: calls must come from one thread or be serialised by the caller. Destroying a running session stops it and drops its
// recording.
class MINDTORCH_EXPORT Session {
 public:
  // Checks the options, reserves memory and prepares the sources. A source that cannot be prepared is reported in source_problems(), and
  // recording continues without it. Throws Error "[record.prepare] ..." if another session is prepared or running; that session is not
  // affected.
  static std::unique_ptr<Session> prepare(SessionOptions options);
  // The same, but returns null if another session is prepared or running.
  static std::unique_ptr<Session> prepare_if_free(SessionOptions options);
  ~Session();

  void start();
  // Seals the logs of all threads, drains the sources and maps every clock to one timeline. Throws if the session was not started or is
  // already stopped.
  trace::Recording stop();
  // Returns what stop() would return now, and goes on recording: what a ring holds stays there, and a later snapshot or stop() holds it
  // too. Scopes that are open now are unfinished in it. No thread that records waits for it. Sources are stopped and started again, which
  // waits for work in flight on their devices. Another thread may call mark_step() meanwhile, and no other function. Throws if the session
  // is not running, or if it spills. With `last`, what began earlier than that long ago is left out.
  trace::Recording snapshot(std::chrono::nanoseconds last = std::chrono::nanoseconds::max());

  // Switches host events off and on again while the session runs.
  void toggle_events(bool on);
  void toggle_source(trace::DeviceType type, bool on);

  // Events from now on belong to `step`. Steps must be marked in increasing order.
  void mark_step(std::int64_t step);

  bool running() const;
  const std::vector<std::string>& source_problems() const;
  // Returns the bytes of slots and side data that are in use now.
  std::int64_t bytes_in_use() const;

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// If the running session of this process spills, everything that it has recorded so far is written to its file before this returns, unless
// that takes longer than the deadline: then false. For a program that is about to end in a way that stops no session. Any thread.
bool flush_recording(std::chrono::milliseconds deadline) noexcept;

// RecordingListener: receives every recording of the process.
class MINDTORCH_EXPORT RecordingListener {
 public:
  virtual ~RecordingListener() = default;
  // Called on the thread that stops the session, before stop() returns the recording.
  virtual void recorded(const trace::Recording& recording) noexcept = 0;
};

// Installs the listener of the process; null removes it. The listener must stay alive until it is removed. Returns false and changes
// nothing if another listener is installed.
MINDTORCH_EXPORT bool set_recording_listener(RecordingListener* listener) noexcept;

// True while a session records host events.
inline bool is_recording() noexcept { return wants(kEvents); }

}  // namespace mindtorch::record
