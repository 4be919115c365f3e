// The registry: all logs of the process, and the session they write to.
#include "mindtorch/record/registry.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "mindtorch/base/error.h"
#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/name_table.h"
#include "mindtorch/record/segments.h"
#include "mindtorch/record/session_core.h"

namespace mindtorch::record {
namespace {

std::int64_t current_tid() { return static_cast<std::int64_t>(::syscall(SYS_gettid)); }

// The system keeps 15 bytes of a name. Who cuts a longer one to that (Python from 3.14 on) may cut the last character, in UTF-8, too.
std::string without_cut_character(std::string name) {
  const auto from_end = [&](std::size_t bytes) { return static_cast<unsigned char>(name[name.size() - bytes]); };
  std::size_t length = 1;  // of the last character
  while (length <= name.size() && (from_end(length) & 0xC0u) == 0x80u) ++length;
  if (length > name.size()) return name;
  const unsigned char first = from_end(length);
  const std::size_t needed = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length < needed) name.resize(name.size() - length);
  return name;
}

std::string current_thread_name() {
  char name[32] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return without_cut_character(name);
}

// A thread often gets its name after it has started, and the name is lost when the thread ends. Therefore the kernel is asked again at the
// end.
std::string thread_name_now(const ThreadIdentity& thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/comm", thread.tid));
  std::string name;
  return std::getline(file, name) && !name.empty() ? without_cut_character(name) : thread.name;
}

}  // namespace

Registry& Registry::instance() {
  static Registry& registry = *new Registry;  // never destroyed: threads may record after static destructors ran
  return registry;
}

Registry::Registry() { install_fork_handlers(); }

bool Registry::claim(SessionCore* session) {
  std::lock_guard lock(mutex_);
  if (claimed_ != nullptr) return false;
  claimed_ = session;
  return true;
}

void Registry::unclaim(SessionCore* session) {
  std::lock_guard lock(mutex_);
  if (claimed_ == session) claimed_ = nullptr;
}

void Registry::open(SessionCore* session) {
  std::lock_guard lock(mutex_);
  open_ = session;
}

std::uint32_t Registry::next_generation() {
  std::lock_guard lock(mutex_);
  return ++last_generation_;
}

Log* Registry::create_log() {
  auto log = std::make_unique<Log>();
  log->hot.storage = &log->cold;
  log->cold.thread = {0, ::getpid(), current_tid(), current_thread_name()};
  const ForeignLockRegion may_wait;
  const auto lock = lock_patiently(mutex_);
  log->cold.thread.number = ++last_number_;
  logs_.push_back(std::move(log));
  return logs_.back().get();
}

bool Registry::attach(Log& log, std::uint64_t state) {
  const ForeignLockRegion may_wait;
  const auto lock = lock_patiently(mutex_);
  if (open_ == nullptr || open_->generation != generation_of(state)) return false;
  // keep_last: a thread drops what is too old when it needs room, which a thread that has ended never does again.
  if (open_->budget.policy == Budget::Policy::kKeepLast) drop_ended(*open_);
  LogStorage& cold = log.cold;
  std::lock_guard log_lock(cold.mutex);
  cold.session = open_;
  cold.next_ordinal = 0;
  cold.refused = 0;
  cold.side_refused = 0;
  cold.loose_entries = 0;
  cold.overwritten = 0;
  cold.side_overwritten = 0;
  leave_segment(log.hot);
  log.hot.state = state;
  return true;
}

// The memory of an open slot is kept for as long as its session is open, whatever the policy, and close() needs the lock: so while the
// lock is held and the session is open, the slot is there.
void Registry::close_async(Slot* slot, std::uint64_t state, std::uint64_t end_ticks) noexcept {
  const ForeignLockRegion may_wait;
  const auto lock = lock_patiently(mutex_);
  if (open_ == nullptr || open_->generation != generation_of(state)) return;
  add_slot_flag(*slot, trace::kAsync);
  store_end(*slot, end_ticks);
}

namespace {

// A thread that read the state word just before it changed may still write behind what was sealed, and open scopes will be closed: these
// blocks stay with their thread, which reuses them in its next session.
void keep_blocks_in_reach(LogStorage& cold) {
  const auto keep_slots = [&](Segment& segment) {
    segment.stays_with_thread = true;
    cold.spare.push_back(segment.slots);
  };
  for (Segment& segment : cold.pinned) keep_slots(segment);
  for (Segment& segment : cold.segments) {
    const bool current = &segment == &cold.segments.back();
    if (current || has_open_slot(segment)) keep_slots(segment);
    if (!current || segment.side.empty()) continue;
    segment.side.back().stays_with_thread = true;
    cold.spare.push_back(segment.side.back().words);
  }
}

// What a log has recorded so far.
SealedLog contents_of(Log& log) {
  LogStorage& cold = log.cold;
  note_fill(log);
  if (!cold.dead) cold.thread.name = thread_name_now(cold.thread);
  SealedLog out{cold.thread, {}, cold.losses()};
  out.segments.assign(cold.pinned.begin(), cold.pinned.end());
  out.segments.insert(out.segments.end(), cold.segments.begin(), cold.segments.end());
  std::sort(out.segments.begin(), out.segments.end(), [](const Segment& a, const Segment& b) { return a.first_ordinal < b.first_ordinal; });
  return out;
}

// Takes what a log recorded; the log is out of the session afterwards.
SealedLog seal(Log& log) {
  LogStorage& cold = log.cold;
  cold.session = nullptr;
  note_fill(log);
  if (!cold.dead) keep_blocks_in_reach(cold);
  SealedLog out = contents_of(log);
  cold.pinned.clear();
  cold.segments.clear();
  return out;
}

}  // namespace

SealedLogs Registry::close(SessionCore* session) noexcept {
  std::lock_guard lock(mutex_);
  if (open_ == session) open_ = nullptr;
  EndedThreads& ended = session->ended;
  std::vector<SealedLog> sealed;
  const auto take = [&](SealedLog& log) {
    try {
      sealed.push_back(std::move(log));
    } catch (const std::bad_alloc&) {
      lose(*session, log);
    }
  };
  std::ranges::for_each(ended.logs, take);
  std::ranges::for_each(ended.open, take);
  ended.logs.clear();
  ended.open.clear();
  for (auto& log : logs_) {
    std::lock_guard log_lock(log->cold.mutex);
    if (log->cold.session != session) continue;
    try {
      SealedLog contents = seal(*log);
      take(contents);
    } catch (const std::bad_alloc&) {
      lose(*session, *log);
    }
  }
  std::ranges::sort(sealed, {}, [](const SealedLog& log) { return log.thread.number; });
  return {std::move(sealed), ended.losses};
}

SealedLogs Registry::look(SessionCore* session) {
  std::lock_guard lock(mutex_);
  std::vector<SealedLog> seen;
  const auto add = [&](SealedLog contents) {
    seen.push_back(std::move(contents));
    for (const Segment& segment : seen.back().segments) {
      if (segment.compact != nullptr) continue;  // the copy shares its memory
      session->held.hold(segment.slots);
      for (const SideChunk& chunk : segment.side) session->held.hold(chunk.words);
    }
  };
  for (const SealedLog& log : session->ended.logs) add(log);
  for (const SealedLog& log : session->ended.open) add(log);
  for (auto& log : logs_) {
    std::lock_guard log_lock(log->cold.mutex);
    if (log->cold.session == session) add(contents_of(*log));
  }
  std::ranges::sort(seen, {}, [](const SealedLog& log) { return log.thread.number; });
  return {std::move(seen), session->ended.losses};
}

std::vector<SealedLog> Registry::look_at_current(SessionCore* session) {
  std::vector<SealedLog> seen;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return seen;
  for (auto& log : logs_) {
    LogStorage& cold = log->cold;
    std::unique_lock log_lock(cold.mutex, std::try_to_lock);
    if (!log_lock || cold.session != session || cold.segments.empty()) continue;
    note_fill(*log);
    if (!cold.segments.back().empty()) seen.push_back({cold.thread, {cold.segments.back()}});
  }
  return seen;
}

void Registry::thread_exits(Log* log) noexcept {
  std::lock_guard lock(mutex_);
  LogStorage& cold = log->cold;
  {
    std::lock_guard log_lock(cold.mutex);
    for (void* block : cold.spare) BlockPool::instance().give_back(block);
    cold.spare.clear();
    cold.dead = true;
    if (SessionCore* const session = cold.session) {
      try {
        cold.thread.name = current_thread_name();
        retire(*session, seal(*log));
      } catch (const std::bad_alloc&) {
        lose(*session, *log);
      }
    }
  }
  std::erase_if(logs_, [log](const auto& each) { return each.get() == log; });
}

void Registry::keep_for_thread(std::uint32_t number, void* block) noexcept {
  std::lock_guard lock(mutex_);
  for (auto& log : logs_) {
    if (log->cold.thread.number != number || log->cold.dead) continue;
    std::lock_guard log_lock(log->cold.mutex);
    try {
      log->cold.spare.push_back(block);
    } catch (const std::bad_alloc&) {
      // The thread may still write to the block, which therefore is never used again.
    }
    return;
  }
  BlockPool::instance().give_back(block);
}

void Registry::refuse_at_thread_exit() noexcept {
  std::lock_guard lock(mutex_);
  if (open_ != nullptr) open_->refused_at_thread_exit.fetch_add(1, std::memory_order_relaxed);
}

// fork(): every lock is held across it, so that the child finds consistent data; the child has one thread and records nothing.
void Registry::install_fork_handlers() {
  ::pthread_atfork([] { instance().lock_all(); }, [] { instance().unlock_all(); }, [] { instance().become_idle_in_child(); });
}

void Registry::lock_all() {
  mutex_.lock();
  for (auto& log : logs_) log->cold.mutex.lock();
  BlockPool::instance().lock();
  name_table().lock();
}

void Registry::unlock_all() {
  name_table().unlock();
  BlockPool::instance().unlock();
  for (auto& log : logs_) log->cold.mutex.unlock();
  mutex_.unlock();
}

void Registry::become_idle_in_child() {
  state_word.store(0, std::memory_order_relaxed);
  claimed_ = open_ = nullptr;
  unlock_all();
  // The parent's threads do not exist here. The contents of their logs and of the session are copies that will not be read. This thread
  // keeps its blocks, because its open scopes will still be closed into them.
  for (auto& log : logs_) {
    LogStorage& cold = log->cold;
    cold.session = nullptr;
    if (&log->hot != thread_log) {
      cold.dead = true;
      continue;
    }
    cold.thread.pid = ::getpid();
    cold.thread.tid = current_tid();
    try {
      for (const Segment& segment : cold.segments) cold.spare.push_back(segment.slots);
    } catch (const std::bad_alloc&) {
      // The thread may still write to the others, which therefore are never used again.
    }
    cold.segments.clear();
    cold.pinned.clear();
  }
  std::erase_if(logs_, [](const auto& log) { return log->cold.dead; });
}

}  // namespace mindtorch::record
