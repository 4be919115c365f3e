// SamplingThread: the thread behind a PythonSampler, and the samples that it has collected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/record/source.h"
#include "python/src/capture/interpreter_memory.h"
#include "python/src/sampling/code_places.h"
#include "python/src/sampling/thread_reader.h"

namespace mindtorch::python {

// The time that a thread of this process has spent on processors, in nanoseconds; none if there is no such thread.
std::optional<std::int64_t> processor_time(std::int64_t thread) noexcept;

// How long a thread has run, and what it waits for, from the kernel. It keeps a file open, if it may: only on a thread with a descriptor
// table of its own. Without a file nothing is known.
class ThreadActivity {
 public:
  ThreadActivity(std::int64_t thread, bool may_open_files) : thread_(thread), has_opened_(!may_open_files) {}
  ~ThreadActivity();
  ThreadActivity(ThreadActivity&& other) noexcept;
  ThreadActivity& operator=(ThreadActivity&&) = delete;

  // kRuns: it is on a processor, or waits for one. kWaits: it is in the kernel and waits.
  enum class Doing { kUnknown, kRuns, kWaits };
  enum class For { kUnknown, kLock, kIo, kTime };
  struct Now {
    Doing doing = Doing::kUnknown;
    For what = For::kUnknown;
    Address lock = 0;  // For::kLock: the address at which it waits
  };
  Now now() noexcept;

 private:
  std::int64_t thread_;
  int file_ = -1;
  bool has_opened_ = false;
};

class SamplingThread {
 public:
  // `hidden_folder`: frames of files in it are not shown.
  SamplingThread(const InterpreterPlaces& places, const record::SourceOptions& options, std::string hidden_folder);
  ~SamplingThread();
  SamplingThread(const SamplingThread&) = delete;
  SamplingThread& operator=(const SamplingThread&) = delete;

  record::DeviceBatch stop();
  bool belongs_to_this_process() const;
  // For a forked child, in which the thread does not exist.
  void abandon() { thread_.release(); }

 private:
  // What is known of a thread since the last look.
  struct Known {
    Known(std::int64_t thread, bool may_open_files) : activity(thread, may_open_files) {}
    ThreadActivity activity;
    Address state = 0;                 // of the interpreter
    std::int64_t processor_time = -1;  // before the last look
    bool waits = false;                // and has not run since, if the time is the same
    bool is_open = false;              // `sample` goes on
    record::ThreadSample sample;
    std::vector<FrameView> frames;
    std::uint64_t last_look = 0;  // the number of the look
  };

  void run() noexcept;
  void keep_looking();
  void look(std::uint64_t now);
  void look_at(const ThreadReader::Thread& thread, std::uint64_t now);
  // False if the thread runs nothing of the program.
  bool place(Known& known, std::span<const FrameView> frames);
  trace::ThreadState state_of(const ThreadReader::Thread& thread, Known& known, std::int64_t ran_before_look, std::int64_t time_since);
  void end_sample(Known& known, std::uint64_t now);
  void end_all(std::uint64_t now);
  void hand_over(std::uint64_t now);
  void adjust_interval();
  std::chrono::nanoseconds pause();

  record::SourceOptions options_;
  ThreadReader reader_;
  CodePlaces places_;
  record::DeviceBatch batch_;
  std::map<std::int64_t, Known> known_;  // by the system's number of the thread
  std::vector<trace::Frame> frames_;     // of the thread at hand
  Address gil_holder_ = 0;
  bool collects_garbage_ = false;
  bool may_open_files_ = false;
  bool has_failed_ = false;
  std::uint64_t looks_ = 0;
  std::uint64_t dropped_ = 0;
  std::int64_t processor_time_ = 0;  // of this thread, when the interval was last adjusted
  std::chrono::nanoseconds interval_;
  std::uint64_t last_hand_over_ = 0, last_look_ticks_ = 0;
  std::uint32_t random_ = 1;

  std::mutex mutex_;  // guards ending_
  std::condition_variable ends_;
  bool ending_ = false;
  const int pid_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace mindtorch::python
