// The spill: a thread that writes sealed segments to a file while recording goes on. Internal to record.
//
// The life of a segment: its thread fills it and submits it when it is full, or when the thread ends. The spill thread writes it and
// recycles its memory at once, unless a scope in it is still open. Such a segment is pinned: it is written with the scope open, and the end
// of the scope is written later. Every quarter of a second the spill thread also writes what the segments hold that are still being filled.
// Whatever ends the process, the file contains all but the last quarter of a second; ingest::load_recording() reads it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
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

  // Writes the summary that the file has if the process is killed. Call it before the session starts.
  void begin(trace::Recording about);
  void submit(const ThreadIdentity& thread, Segment&& segment) override;
  void thread_ended(const ThreadIdentity& thread) noexcept override;
  void wait_for_room() noexcept override;

  // Writes everything that has been recorded so far. Returns false if that takes longer than the deadline. Any thread.
  bool flush(std::chrono::milliseconds deadline);
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
  std::vector<OpenBlock> take_open_blocks() noexcept;

  // For a forked child: forgets the thread, which does not exist there, and leaks the rest.
  void abandon() noexcept { static_cast<void>(thread_.release()); }

 private:
  struct Work {
    ThreadIdentity thread;
    Segment segment;             // none: the thread has ended
    bool owned = true;           // false: the memory belongs to the caller of finish()
    std::vector<OpenSlot> open;  // pinned: scopes whose end is still to be written
  };
  void run();
  bool must_write_current() const;
  // These are called on the spill thread, or in finish() after it has ended. A failing file turns into counted losses.
  void write(Work work) noexcept;
  void write_current() noexcept;
  void write_ends() noexcept;
  // Takes out of `open` the scopes that have ended, and appends their ends, for which there must be room.
  static void take_ends(std::vector<OpenSlot>& open, const Slot* slots, std::vector<trace::PatchedEnd>& ends) noexcept;
  // Runs a call that writes, unless writing has failed; remembers the failure.
  template <class Call>
  void attempt(Call&& call) noexcept;
  void note_failure(const char* what) noexcept;
  void release(const Work& work);
  void end_thread();

  SessionCore& core_;
  const std::string path_;
  std::mutex file_mutex_;  // guards the file and its losses: the spill thread and the threads of sources write to it
  SpillFile file_;
  std::vector<Work> pinned_;
  std::unordered_map<const Slot*, WrittenSegment> being_filled_;  // by the slots of the segment
  std::string failure_;  // why the file could not be written; segments are dropped and counted from then on
  std::uint64_t dropped_ = 0;
  std::uint64_t side_dropped_ = 0;

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_came_;
  std::condition_variable room_came_;
  std::condition_variable flushed_;
  std::deque<Work> queue_;
  std::chrono::steady_clock::time_point next_write_;  // of the segments that are being filled
  std::uint64_t flushes_asked_ = 0, flushes_done_ = 0;
  bool writing_ = false;
  bool ending_ = false;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace mindtorch::record
