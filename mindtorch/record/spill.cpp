// The spill: a thread that writes sealed segments to a file while recording goes on.
#include "mindtorch/record/spill.h"

#include <pthread.h>

#include <algorithm>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/spilled.h"
#include "mindtorch/record/stack_provider.h"

namespace mindtorch::record {

SpillWriter::SpillWriter(SessionCore& core, const SessionOptions& options)
    : core_(core), path_(options.budget.spill_path), file_(path_, core, options.stacks ? stack_provider() : nullptr) {
  thread_ = std::make_unique<std::thread>([this] { run(); });
  ::pthread_setname_np(thread_->native_handle(), "mindtorch-spill");
}

SpillWriter::~SpillWriter() { end_thread(); }

// The thread empties its queue before it ends, so nothing that was submitted is left behind.
void SpillWriter::end_thread() {
  if (thread_ == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_came_.notify_one();
  thread_->join();
  thread_.reset();
}

void SpillWriter::submit(const ThreadIdentity& thread, Segment&& segment) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({thread, {}, true, {}});  // may throw, so the segment is moved afterwards: the caller still has it then
    queue_.back().segment = std::move(segment);
  }
  work_came_.notify_one();
}

// The segments that threads are filling, and those with open scopes, may take up the whole budget: then there is nothing to wait for, and
// the session needs more than its budget until the segments are full and the scopes are closed.
void SpillWriter::wait_for_room() noexcept {
  std::unique_lock lock(mutex_);
  room_came_.wait(lock, [this] { return !core_.over_budget() || (queue_.empty() && !writing_); });
}

void SpillWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_came_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
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
}

void SpillWriter::write(Work work) {
  const std::uint64_t written_before = file_.events_written();
  try {
    if (failure_.empty()) work.open = file_.write(work.thread, work.segment);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  if (!failure_.empty()) {
    // The file may hold a part of the segment: only what did not get into it is lost.
    dropped_ += work.segment.used - (file_.events_written() - written_before);
    side_dropped_ += work.segment.loose_entries;
    // Its open scopes are not written, but their ends are stored into the segment all the same: it must not be recycled before.
    work.open = open_slots(work.segment, 0);
  }
  if (work.open.empty())
    release(work);
  else
    pinned_.push_back(std::move(work));
}

void SpillWriter::write_records(const std::string& source, DeviceBatch& batch) {
  if (core_.clock_samples().empty()) return;  // the session is starting, and nothing could be placed on its timeline
  std::lock_guard lock(file_mutex_);
  const auto written = [this] { return file_.events_written() + file_.samples_written(); };
  const std::uint64_t written_before = written();
  try {
    if (failure_.empty()) file_.write_records(source, batch);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  if (!failure_.empty()) dropped_ += batch.records.size() + batch.sample_count() - (written() - written_before);
  batch.records.clear();
  batch.clear_samples();
}

void SpillWriter::release(const Work& work) {
  if (!work.owned) return;
  core_.release_block(work.segment.slots);
  for (const SideChunk& chunk : work.segment.side) core_.release_block(chunk.words);
  { std::lock_guard lock(mutex_); }  // a thread that waits is asleep by now, or has yet to ask whether there is room
  room_came_.notify_all();
}

std::vector<SpillWriter::OpenBlock> SpillWriter::take_open_blocks() {
  end_thread();
  std::vector<OpenBlock> blocks;
  for (const Work& work : pinned_) {
    if (!work.owned) continue;
    blocks.push_back({work.thread.number, work.segment.slots});
    for (const SideChunk& chunk : work.segment.side) core_.release_block(chunk.words);
  }
  pinned_.clear();
  return blocks;
}

// A scope that was open when its segment was written has no end in the file. Its thread stores the end into the slot at any time, so the
// slots are looked at again and again, and the ends are written as patches.
void SpillWriter::write_ends() {
  if (pinned_.empty()) return;
  std::vector<trace::PatchedEnd> ends;
  for (Work& work : pinned_) {
    std::erase_if(work.open, [&](const OpenSlot& open) {
      const Slot& slot = work.segment.slots[open.index];
      const std::uint64_t end = end_of(slot);
      if (end == 0) return false;
      // The end was stored after the flags, so the flags are final. The others were in the file from the start.
      ends.push_back({open.track, open.ordinal, end, static_cast<std::uint8_t>(flags_of(slot) & trace::kAsync)});
      return true;
    });
  }
  try {
    if (!ends.empty() && failure_.empty()) file_.write_ends(ends);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  std::erase_if(pinned_, [this](const Work& work) {
    if (!work.open.empty()) return false;
    release(work);
    return true;
  });
}

trace::Recording SpillWriter::finish(const Ingredients& rest, trace::Recording summary) {
  end_thread();
  // What the threads were filling when the session stopped. Its memory is that of the caller.
  for (const SealedLog& log : rest.logs) {
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
  try {
    if (failure_.empty()) summary = file_.finish(rest, std::move(summary));
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  if (!failure_.empty()) summary.losses.push_back({trace::LossReason::kSpillFailed, dropped_, path_, failure_});
  if (side_dropped_ > 0)
    summary.losses.push_back({trace::LossReason::kSideData, side_dropped_, path_, "memory reports that could not be written"});
  // Only after file_.finish(), which writes the summary into the file: the reader of the file counts these events itself.
  if (unfinished > 0)
    summary.losses.push_back({trace::LossReason::kUnfinished, unfinished, path_, "still open when the recording stopped"});
  return summary;
}

}  // namespace mindtorch::record
