// The spill: a thread that writes sealed segments to a file while recording goes on. Internal to record.
//
// Life of a segment: its thread fills it and submits it; the spill thread writes it as one chunk, and recycles its memory at once unless a
// scope in it is still open. Such a segment is pinned: written with the scope open, and followed by a patch when the scope has closed.
// After SIGKILL the file holds every chunk that was written; trace::load reads it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/record/log_storage.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

class SessionCore;
class SpillFile;
struct Ingredients;
struct SessionOptions;

class SpillWriter {
 public:
  // Creates the file and starts the thread. Throws IoError.
  SpillWriter(SessionCore& core, const SessionOptions& options);
  ~SpillWriter();

  // Takes over a sealed segment. Any thread, under its log's lock.
  void submit(const ThreadIdentity& thread, Segment segment);
  // Blocks the caller until `has_room` holds (checked whenever memory was freed) or the file has failed. Any thread.
  void wait_for_room(const std::function<bool()>& has_room) noexcept;

  // Writes what is left, ends the file, and returns a Recording without events whose metadata "spill_file" names it. Losses include
  // everything that could not be written.
  trace::Recording finish(const Ingredients& rest);

  // In a forked child: forget the thread, which does not exist here.
  void abandon() noexcept;

 private:
  struct Work {
    ThreadIdentity thread;
    Segment segment;
  };
  void run();
  void write(Work work);
  void write_closed_scopes();
  void release(const Segment& segment);
  void stop_thread();

  SessionCore& core_;
  std::string path_;
  std::unique_ptr<SpillFile> file_;
  std::vector<Work> pinned_;  // the spill thread's, finish()'s after it has ended

  std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable room_came_;
  std::deque<Work> queue_;
  bool ending_ = false;
  bool failed_ = false;  // the file could not be written: segments are dropped and counted from then on
  std::string failure_;
  std::uint64_t dropped_ = 0;
  std::thread thread_;
};

}  // namespace mindtorch::record
