// The spill: a thread that writes sealed segments to a file while recording goes on. Internal to record.
//
// The life of a segment: its thread fills it and submits it. The spill thread writes it as one chunk and recycles its memory at once,
// unless a scope in it is still open. Such a segment is pinned: it is written with the scope open, and the end of the scope is written
// later. After SIGKILL the file contains every chunk that was written; ingest::load_recording() reads it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/record/session_core.h"
#include "mindtorch/record/spill_file.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

struct Ingredients;
struct SessionOptions;

class SpillWriter final : public SegmentSink {
 public:
  // Creates the file and starts the thread. Throws IoError.
  SpillWriter(SessionCore& core, const SessionOptions& options);
  ~SpillWriter() override;

  void submit(const ThreadIdentity& thread, Segment&& segment) override;
  void wait_for_room() noexcept override;

  // Writes the records of a source and takes them out of the batch; what cannot be written is counted. Leaves the batch alone while the
  // session is starting. Any thread.
  void write_records(const std::string& source, DeviceBatch& batch);

  // Writes what is left and ends the file. Returns `summary` (no events) with clock, steps and losses filled in and metadata "spill_file"
  // naming the file; what could not be written is among the losses.
  trace::Recording finish(const Ingredients& rest, trace::Recording summary);

  // A block with scopes that are still open: their thread will store their ends into it.
  struct OpenBlock {
    std::uint32_t thread_number = 0;
    void* slots = nullptr;
  };
  // Ends the thread and hands over the blocks that outlive the session.
  std::vector<OpenBlock> take_open_blocks();

  // For a forked child: forgets the thread, which does not exist there, and leaks the rest.
  void abandon() noexcept { static_cast<void>(thread_.release()); }

 private:
  struct Work {
    ThreadIdentity thread;
    Segment segment;
    bool owned = true;           // false: the memory belongs to the caller of finish()
    std::vector<OpenSlot> open;  // pinned: scopes whose end is still to be written
  };
  void run();
  // Both on the spill thread, or in finish() after it has ended. A failing file turns into counted losses.
  void write(Work work);
  void write_ends();
  void release(const Work& work);
  void end_thread();

  SessionCore& core_;
  const std::string path_;
  std::mutex file_mutex_;  // guards the file and its losses: the spill thread and the threads of sources write to it
  SpillFile file_;
  std::vector<Work> pinned_;
  std::string failure_;  // why the file could not be written; segments are dropped and counted from then on
  std::uint64_t dropped_ = 0;
  std::uint64_t side_dropped_ = 0;

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_came_;
  std::condition_variable room_came_;
  std::deque<Work> queue_;
  bool writing_ = false;
  bool ending_ = false;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace mindtorch::record
