// The spill: a thread that writes sealed segments to a file while recording goes on.
#include "mindtorch/record/spill.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/registry.h"
#include "mindtorch/record/spilled.h"
#include "mindtorch/record/stack_provider.h"

namespace mindtorch::record {
namespace {

constexpr std::chrono::milliseconds kWriteEvery{250};

// The writer whose thread runs, for flush_recording(). A forked child has neither its thread nor, perhaps, the mutex in a usable state.
struct RunningWriter {
  std::mutex mutex;
  std::condition_variable flushes_ended;
  SpillWriter* writer = nullptr;
  int flushes = 0;  // that use the writer now
  std::atomic<pid_t> pid{0};
};
RunningWriter& running_writer() {
  static RunningWriter& it = *new RunningWriter;  // never destroyed: a program may end in any way
  return it;
}

}  // namespace

bool flush_recording(std::chrono::milliseconds deadline) noexcept try {
  RunningWriter& running = running_writer();
  if (running.pid.load(std::memory_order_acquire) != ::getpid()) return true;
  std::unique_lock lock(running.mutex);
  SpillWriter* const writer = running.writer;
  if (writer == nullptr) return true;
  ++running.flushes;
  lock.unlock();
  const bool flushed = writer->flush(deadline);
  lock.lock();
  --running.flushes;
  running.flushes_ended.notify_all();
  return flushed;
} catch (...) {
  return false;
}

SpillWriter::SpillWriter(SessionCore& core, const SessionOptions& options)
    : core_(core), path_(options.budget.spill_path), file_(path_, core, options.stacks ? stack_provider() : nullptr) {
  RunningWriter& running = running_writer();
  thread_ = std::make_unique<std::thread>([this] { run(); });  // the last that may fail: a thread must be joined
  ::pthread_setname_np(thread_->native_handle(), "mindtorch-spill");
  if (running.pid.load() != ::getpid()) ::new (&running) RunningWriter;  // the mutex of a forked child may be locked for good
  const std::lock_guard lock(running.mutex);
  running.writer = this;
  running.pid.store(::getpid(), std::memory_order_release);
}

SpillWriter::~SpillWriter() { end_thread(); }

// The thread empties its queue before it ends, so nothing that was submitted is left behind.
void SpillWriter::end_thread() {
  if (thread_ == nullptr) return;
  {
    RunningWriter& running = running_writer();
    std::unique_lock lock(running.mutex);
    if (running.writer == this) {
      running.writer = nullptr;
      running.flushes_ended.wait(lock, [&] { return running.flushes == 0; });
    }
  }
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_came_.notify_one();
  thread_->join();
  thread_.reset();
}

void SpillWriter::begin(trace::Recording about) {
  std::lock_guard lock(file_mutex_);
  attempt([&] { file_.begin(std::move(about)); });
}

void SpillWriter::submit(const ThreadIdentity& thread, Segment&& segment) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({thread, {}, true, {}});  // may throw, so the segment is moved afterwards: the caller still has it then
    queue_.back().segment = std::move(segment);
  }
  work_came_.notify_one();
}

void SpillWriter::thread_ended(const ThreadIdentity& thread) noexcept {
  try {
    std::lock_guard lock(mutex_);
    queue_.push_back({thread, {}, true, {}});
  } catch (const std::bad_alloc&) {
    return;  // then the file remembers the thread
  }
  work_came_.notify_one();
}

// The segments that threads are filling, and those with open scopes, may take up the whole budget: then there is nothing to wait for, and
// the session needs more than its budget until the segments are full and the scopes are closed.
void SpillWriter::wait_for_room() noexcept {
  std::unique_lock lock(mutex_);
  room_came_.wait(lock, [this] { return !core_.over_budget() || (queue_.empty() && !writing_); });
}

// The file gets what is being filled when it is due, even while full segments keep coming: their threads may be others.
bool SpillWriter::must_write_current() const { return flushes_done_ != flushes_asked_ || std::chrono::steady_clock::now() >= next_write_; }

void SpillWriter::run() {
  std::unique_lock lock(mutex_);
  next_write_ = std::chrono::steady_clock::now() + kWriteEvery;
  for (;;) {
    work_came_.wait_until(lock, next_write_, [this] { return ending_ || !queue_.empty() || flushes_done_ != flushes_asked_; });
    if (queue_.empty() && ending_) return;
    if (!queue_.empty()) {
      Work work = std::move(queue_.front());
      queue_.pop_front();
      writing_ = true;  // its memory is still in use: wait_for_room() must not take the empty queue for "nothing more will be released"
      lock.unlock();
      {
        std::lock_guard file_lock(file_mutex_);
        write(std::move(work));
        write_ends();  // with every segment, so that pinned ones are released soon after their last scope has closed
      }
      lock.lock();
      writing_ = false;
      room_came_.notify_all();
    }
    if (!must_write_current() || (!queue_.empty() && flushes_done_ != flushes_asked_)) continue;  // a flush is for what is queued, too
    const std::uint64_t flushes = flushes_asked_;
    next_write_ = std::chrono::steady_clock::now() + kWriteEvery;
    lock.unlock();
    {
      std::lock_guard file_lock(file_mutex_);
      write_current();
      write_ends();
    }
    lock.lock();
    flushes_done_ = flushes;
    flushed_.notify_all();
  }
}

bool SpillWriter::flush(std::chrono::milliseconds deadline) {
  const ForeignLockRegion may_wait;
  ForeignLockRegion::give_up();  // the spill thread may need it to read call stacks
  std::unique_lock lock(mutex_);
  if (thread_ == nullptr) return true;
  const std::uint64_t mine = ++flushes_asked_;
  work_came_.notify_one();
  return flushed_.wait_for(lock, deadline, [&] { return flushes_done_ >= mine; });
}

template <class Call>
void SpillWriter::attempt(Call&& call) noexcept {
  if (!failure_.empty()) return;
  try {
    call();
  } catch (const std::exception& error) {
    note_failure(error.what());
  }
}

void SpillWriter::note_failure(const char* what) noexcept {
  try {
    failure_ = what;
  } catch (const std::bad_alloc&) {
    failure_ = "no memory";  // short enough to need none
  }
}

// An exception would end the program here, on a thread that it does not know. Without memory, a block that scopes still write to is never
// used again, and the file does not get their ends.
void SpillWriter::write(Work work) noexcept try {
  if (work.segment.slots == nullptr) {
    file_.thread_ended(work.thread.number);
    return;
  }
  WrittenSegment written;
  if (auto known = being_filled_.extract(work.segment.slots); !known.empty()) written = std::move(known.mapped());
  attempt([&] { file_.write(work.thread, work.segment, written); });
  if (!failure_.empty()) {
    // The file may hold a part of the segment: only what did not get into it is lost.
    dropped_ += work.segment.used - written.slots();
    side_dropped_ += work.segment.loose_entries - written.loose_entries;
    // The scopes that are open now are not written, but their ends are stored into the segment all the same: it must not be recycled
    // before.
    for (std::uint32_t i = written.slots(); i < work.segment.used; ++i)
      if (is_open(work.segment.slots[i])) written.open.push_back({i, 0, 0});
  }
  work.open = std::move(written.open);
  if (work.open.empty())
    release(work);
  else
    pinned_.push_back(std::move(work));
} catch (const std::bad_alloc&) {
  if (failure_.empty()) note_failure("no memory");
}

void SpillWriter::write_current() noexcept {
  attempt([&] {
    if (core_.clock_samples().empty()) return;  // the session is starting, and nothing could be placed on its timeline
    core_.sample_clock_sometimes();
    for (const SealedLog& log : Registry::instance().look_at_current(&core_)) {
      const Segment& segment = log.segments.front();
      WrittenSegment& written = being_filled_[segment.slots];
      file_.write(log.thread, segment, written);
    }
    file_.write_steps();
  });
}

void SpillWriter::write_records(const std::string& source, DeviceBatch& batch) {
  if (core_.clock_samples().empty()) return;  // the session is starting, and nothing could be placed on its timeline
  std::lock_guard lock(file_mutex_);
  const auto written = [this] { return file_.events_written() + file_.samples_written(); };
  const std::uint64_t written_before = written();
  attempt([&] { file_.write_records(source, batch); });
  if (!failure_.empty()) dropped_ += batch.records.size() + batch.sample_count() - (written() - written_before);
  batch.records.clear();
  batch.clear_samples();
}

void SpillWriter::release(const Work& work) {
  if (!work.owned) return;
  core_.release(work.segment);
  { std::lock_guard lock(mutex_); }  // a thread that waits is asleep by now, or has yet to ask whether there is room
  room_came_.notify_all();
}

std::vector<SpillWriter::OpenBlock> SpillWriter::take_open_blocks() noexcept {
  end_thread();
  std::vector<OpenBlock> blocks;
  try {
    blocks.reserve(pinned_.size());
  } catch (const std::bad_alloc&) {
    return blocks;  // the blocks are never used again
  }
  for (const Work& work : pinned_) {
    if (!work.owned) continue;
    blocks.push_back({work.thread.number, work.segment.slots});
    for (const SideChunk& chunk : work.segment.side) core_.release_block(chunk.words);
  }
  pinned_.clear();
  return blocks;
}

void SpillWriter::take_ends(std::vector<OpenSlot>& open, const Slot* slots, std::vector<trace::PatchedEnd>& ends) noexcept {
  std::erase_if(open, [&](const OpenSlot& it) {
    const Slot& slot = slots[it.index];
    const std::uint64_t end = end_of(slot);
    if (end == 0) return false;
    // The end was stored after the link and the flags, so these are final.
    ends.push_back({it.track, it.ordinal, end, flags_of(slot), link_of(slot)});
    return true;
  });
}

// A scope that was open when it was written has no end in the file. Its thread stores the end into the slot at any time, so the slots are
// looked at again and again, and the ends are written as patches.
void SpillWriter::write_ends() noexcept {
  std::size_t open = 0;
  for (const Work& work : pinned_) open += work.open.size();
  for (const auto& [slots, written] : being_filled_) open += written.open.size();
  std::vector<trace::PatchedEnd> ends;
  try {
    ends.reserve(open);
  } catch (const std::bad_alloc&) {
    return;  // the next time, perhaps
  }
  for (Work& work : pinned_) take_ends(work.open, work.segment.slots, ends);
  for (auto& [slots, written] : being_filled_) take_ends(written.open, slots, ends);
  if (!ends.empty()) attempt([&] { file_.write_ends(ends); });
  std::erase_if(pinned_, [this](const Work& work) {
    if (!work.open.empty()) return false;
    release(work);
    return true;
  });
}

trace::Recording SpillWriter::finish(const Ingredients& rest, trace::Recording summary) {
  end_thread();
  // What the threads were filling when the session stopped. Its memory is that of the caller.
  for (const SealedLog& log : rest.logs.logs) {
    for (const Segment& segment : log.segments)
      if (!segment.empty()) write({log.thread, segment, false, {}});
    add_log_losses(log, summary);
  }
  write_ends();
  std::uint64_t unfinished = 0;
  for (const Work& work : pinned_) unfinished += work.open.size();
  TickMapping mapping = map_session_clock(core_.clock_samples(), core_.clock);
  add_clock_and_steps(rest, mapping, summary);
  summary.metadata[kSpillFile] = json_quoted(path_);
  summary.metadata[kSpillId] = file_.id();
  summary.metadata[kSpillEvents] = std::to_string(file_.events_written());
  attempt([&] { summary = file_.finish(rest, std::move(summary)); });
  if (!failure_.empty()) summary.losses.push_back({trace::LossReason::kSpillFailed, dropped_, path_, failure_});
  if (side_dropped_ > 0)
    summary.losses.push_back({trace::LossReason::kSideData, side_dropped_, path_, "memory reports that could not be written"});
  // Only after file_.finish(), which writes the summary into the file: the reader of the file counts these events itself.
  if (unfinished > 0)
    summary.losses.push_back({trace::LossReason::kUnfinished, unfinished, path_, "still open when the recording stopped"});
  trace::join_many_losses(summary.losses);
  return summary;
}

}  // namespace mindtorch::record
