// The spill: a thread that writes sealed segments to a file while recording goes on.
#include "mindtorch/record/spill.h"

#include <pthread.h>

#include <algorithm>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/registry.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/stack_provider.h"

namespace mindtorch::record {

SpillWriter::SpillWriter(SessionCore& core, const SessionOptions& options)
    : core_(core), path_(options.budget.spill_path), file_(path_, core, options.stacks ? stack_provider() : nullptr) {
  thread_ = std::make_unique<std::thread>([this] { run(); });
  ::pthread_setname_np(thread_->native_handle(), "mindtorch-spill");
}

SpillWriter::~SpillWriter() { end_thread(); }

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

void SpillWriter::submit(const ThreadIdentity& thread, Segment segment) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({thread, std::move(segment), true, {}});
  }
  work_came_.notify_one();
}

void SpillWriter::wait_for_room(const std::function<bool()>& has_room) noexcept {
  std::unique_lock lock(mutex_);
  room_came_.wait(lock, has_room);
}

void SpillWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_came_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    write(std::move(work));
    write_ends();
    lock.lock();
  }
}

void SpillWriter::write(Work work) {
  try {
    if (failure_.empty()) work.open = file_.write(work.thread, work.segment, late_ends_);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  if (!failure_.empty()) dropped_ += work.segment.used;
  if (work.open.empty())
    release(work);
  else
    pinned_.push_back(std::move(work));
}

void SpillWriter::release(const Work& work) {
  if (!work.owned) return;
  // A scope that is still open will be closed into its slot: the memory goes to the thread that will do it.
  if (has_open_slot(work.segment))
    Registry::instance().keep_for_thread(work.thread.number, work.segment.slots);
  else
    core_.release_block(work.segment.slots);
  for (const SideChunk& chunk : work.segment.side) core_.release_block(chunk.words);
  { std::lock_guard lock(mutex_); }  // whoever waits is asleep by now, or has yet to ask
  room_came_.notify_all();
}

// A scope closed elsewhere: its slot lies in a pinned segment, or in one that will be.
void SpillWriter::apply_late_ends() {
  std::erase_if(late_ends_, [this](const LateEnd& late) {
    for (Work& work : pinned_) {
      Slot* slots = work.segment.slots;
      auto* slot = reinterpret_cast<Slot*>(late.slot);
      if (slot < slots || slot >= slots + work.segment.used || slot->start != late.start) continue;
      slot->flags |= trace::kAsync;
      std::atomic_ref<std::uint64_t>(slot->end).store(late.end, std::memory_order_release);
      return true;
    }
    return false;
  });
}

void SpillWriter::write_ends() {
  if (pinned_.empty()) return;
  apply_late_ends();
  std::vector<trace::PatchedEnd> ends;
  for (Work& work : pinned_) {
    std::erase_if(work.open, [&](const OpenSlot& open) {
      Slot& slot = work.segment.slots[open.index];
      const std::uint64_t end = std::atomic_ref<std::uint64_t>(slot.end).load(std::memory_order_acquire);
      if (end == 0) return false;
      ends.push_back({open.track, open.ordinal, end, static_cast<std::uint8_t>(slot.flags & trace::kAsync)});
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
  for (const SealedLog& log : rest.logs) {
    for (const Segment& segment : log.segments)
      if (!segment.empty()) write({log.thread, segment, false, {}});
    add_log_losses(log, summary);
  }
  write_ends();
  std::uint64_t unfinished = 0;
  for (const Work& work : pinned_) {
    unfinished += work.open.size();
    release(work);
  }
  pinned_.clear();
  TickMapping mapping = map_session_clock(core_.clock_samples(), core_.clock);
  add_clock_and_steps(core_, mapping, rest.stop_ticks, summary);
  summary.metadata["spill_file"] = json_quoted(path_);
  try {
    if (failure_.empty()) summary = file_.finish(rest, std::move(summary));
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
  if (!failure_.empty()) summary.losses.push_back({trace::LossReason::kSpillFailed, dropped_, path_, failure_});
  // Whoever reads the file counts these itself.
  if (unfinished > 0)
    summary.losses.push_back({trace::LossReason::kUnfinished, unfinished, path_, "still open when the recording stopped"});
  return summary;
}

}  // namespace mindtorch::record
