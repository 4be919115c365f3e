// Logs of threads, written by callbacks and read by the decoding thread.
#include "mindtorch/sources/cupti/call_log.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace mindtorch::sources::cupti {
namespace {

// The log of this thread. A pointer needs no guard, and the initial-exec model no call: callbacks read it at both ends of each call.
constinit thread_local void* calls_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

std::uint64_t end_of(const Call& call) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<Call&>(call).end).load(std::memory_order_acquire);
}
void store_end(Call& call, std::uint64_t ticks) noexcept {
  std::atomic_ref<std::uint64_t>(call.end).store(ticks, std::memory_order_release);
}

}  // namespace

CallLog& call_log() {
  static auto& log = *new CallLog();
  return log;
}

// Tells the log when a thread has ended, so that its memory is given back.
class CallLog::ThreadEnd {
 public:
  ThreadCalls* thread = nullptr;
  ~ThreadEnd() {
    if (thread == nullptr) return;
    calls_of_thread = nullptr;
    std::lock_guard lock(call_log().mutex_);
    thread->has_ended = true;
  }
};

void CallLog::begin(record::Clock& clock) {
  static const bool handles_forks = [] { return install_fork_handlers(), true; }();
  static_cast<void>(handles_forks);
  clock_.store(&clock, std::memory_order_release);
  last_epoch_ += 2;
  epoch_.store(last_epoch_ | (clock.is_hardware() ? kHardwareClock : 0), std::memory_order_release);
}

void CallLog::end() { epoch_.store(0, std::memory_order_release); }

// The child has one thread, and none of the sessions of its parent.
void CallLog::install_fork_handlers() {
  ::pthread_atfork([] { call_log().mutex_.lock(); }, [] { call_log().mutex_.unlock(); },
                   [] {
                     call_log().epoch_.store(0, std::memory_order_relaxed);
                     call_log().mutex_.unlock();
                   });
}

void CallLog::called_back(std::uint32_t domain, std::uint32_t callback_id, const CallbackData& data) noexcept {
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  if (epoch == 0) return;
  if (data.site == kApiEnter)
    enter(epoch, domain, callback_id, data.correlation_id);
  else
    leave(epoch, domain, callback_id, data);
}

void CallLog::enter(std::uint64_t epoch, std::uint32_t domain, std::uint32_t callback_id, std::uint32_t correlation) noexcept {
  ThreadCalls* thread = thread_in(epoch);
  if (thread == nullptr || thread->depth == kDeepest) [[unlikely]] {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (has_open_call(*thread, correlation)) return;
  Call* call = new_call(*thread, domain, callback_id, correlation);
  if (call == nullptr) [[unlikely]]
    return;
  store_end(*call, 0);
  thread->open[thread->depth++] = call;
  call->start = ticks(epoch);
  publish(*thread);
}

bool CallLog::has_open_call(const ThreadCalls& thread, std::uint32_t correlation) noexcept {
  for (std::uint32_t depth = 0; depth < thread.depth; ++depth)
    if (thread.open[depth]->correlation == correlation) return true;
  return false;
}

CallLog::ThreadCalls* CallLog::thread_in(std::uint64_t epoch) noexcept {
  auto* thread = static_cast<ThreadCalls*>(calls_of_thread);
  const bool has_joined = thread != nullptr && thread->epoch.load(std::memory_order_relaxed) == epoch;
  return has_joined ? thread : join(epoch);
}

Call* CallLog::new_call(ThreadCalls& thread, std::uint32_t domain, std::uint32_t callback_id, std::uint32_t correlation) noexcept {
  if (thread.chunk->begun.load(std::memory_order_relaxed) == kCallsInChunk && !add_chunk(thread)) [[unlikely]] {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  Call& call = thread.chunk->calls[thread.chunk->begun.load(std::memory_order_relaxed)];
  call.correlation = correlation;
  call.domain = domain;
  call.callback_id = callback_id;
  return &call;
}

void CallLog::publish(ThreadCalls& thread) noexcept {
  std::atomic<std::uint32_t>& begun = thread.chunk->begun;
  begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void CallLog::leave(std::uint64_t epoch, std::uint32_t domain, std::uint32_t callback_id, const CallbackData& data) noexcept {
  ThreadCalls* thread = thread_in(epoch);
  if (thread == nullptr) return;
  for (std::uint32_t depth = thread->depth; depth != 0; --depth) {
    Call& call = *thread->open[depth - 1];
    if (call.correlation != data.correlation_id || call.domain != domain || call.callback_id != callback_id) continue;
    for (; thread->depth > depth; --thread->depth) store_end(*thread->open[thread->depth - 1], kNoEnd);
    call.result = data.function_return_value != nullptr ? *static_cast<const Result*>(data.function_return_value) : kSuccess;
    store_end(call, ticks(epoch));
    --thread->depth;
    return;
  }
  if (has_open_call(*thread, data.correlation_id)) return;
  // The work of a call that was entered before does not belong to the recording, so that the call must be known.
  Call* call = new_call(*thread, domain, callback_id, data.correlation_id);
  if (call == nullptr) return;
  call->start = 0;
  store_end(*call, ticks(epoch));
  publish(*thread);
}

void CallLog::abandon_open_calls(ThreadCalls& thread) noexcept {
  for (; thread.depth != 0; --thread.depth) store_end(*thread.open[thread.depth - 1], kNoEnd);
}

// The first call of this thread in an epoch.
CallLog::ThreadCalls* CallLog::join(std::uint64_t epoch) noexcept {
  auto* thread = static_cast<ThreadCalls*>(calls_of_thread);
  if (thread == nullptr) thread = add_thread();
  if (thread == nullptr) return nullptr;
  abandon_open_calls(*thread);
  std::lock_guard lock(mutex_);
  // The thread writes to none of them any more.
  for (Chunk* chunk : std::exchange(thread->kept, {})) release_locked(chunk);
  thread->epoch.store(epoch, std::memory_order_release);
  return thread;
}

CallLog::ThreadCalls* CallLog::add_thread() noexcept {
  static thread_local ThreadEnd end;
  std::unique_ptr<ThreadCalls> added(new (std::nothrow) ThreadCalls);
  if (added == nullptr) return nullptr;
  ThreadCalls* thread = added.get();
  {
    std::lock_guard lock(mutex_);
    thread->chunk = thread->read_chunk = new_chunk_locked();
    if (thread->chunk == nullptr) return nullptr;
    thread->thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    try {
      threads_.push_back(std::move(added));
    } catch (const std::bad_alloc&) {
      release_locked(thread->chunk);
      return nullptr;
    }
  }
  end.thread = thread;
  calls_of_thread = thread;
  return thread;
}

bool CallLog::add_chunk(ThreadCalls& thread) noexcept {
  std::lock_guard lock(mutex_);
  Chunk* next = new_chunk_locked();
  if (next == nullptr) return false;
  thread.chunk->next.store(next, std::memory_order_release);
  thread.chunk = next;
  return true;
}

CallLog::Chunk* CallLog::new_chunk_locked() noexcept {
  if (spare_.empty()) {
    if (chunks_ >= kMostChunks) return nullptr;
    auto* chunk = new (std::nothrow) Chunk;
    if (chunk != nullptr) ++chunks_;
    return chunk;
  }
  Chunk* chunk = spare_.back();
  spare_.pop_back();
  chunk->begun.store(0, std::memory_order_relaxed);
  chunk->next.store(nullptr, std::memory_order_relaxed);
  chunk->has_open = false;
  return chunk;
}

void CallLog::release_locked(Chunk* chunk) noexcept {
  try {
    if (spare_.size() < kSpareChunks) return spare_.push_back(chunk);
  } catch (const std::bad_alloc&) {
    // There is no room to keep it.
  }
  delete chunk;
  --chunks_;
}

void CallLog::take(const Visit& visit, bool also_open) {
  std::vector<ThreadCalls*> threads;
  {
    std::lock_guard lock(mutex_);
    for (const auto& each : threads_) threads.push_back(each.get());
  }
  for (ThreadCalls* thread : threads) {
    while (take_next(*thread, visit, also_open)) {
    }
  }
  remove_ended_threads();
}

// False if there is no further call that may be taken.
bool CallLog::take_next(ThreadCalls& thread, const Visit& visit, bool also_open) {
  Chunk& chunk = *thread.read_chunk;
  if (thread.read_calls == chunk.begun.load(std::memory_order_acquire)) {
    Chunk* next = thread.read_calls == kCallsInChunk ? chunk.next.load(std::memory_order_acquire) : nullptr;
    if (next != nullptr) go_to_next_chunk(thread, next);
    return next != nullptr;
  }
  const Call& call = chunk.calls[thread.read_calls];
  // A thread of an earlier epoch will not tell the end of its calls.
  const bool is_over = thread.epoch.load(std::memory_order_acquire) != epoch_.load(std::memory_order_acquire);
  const std::uint64_t end = end_of(call);
  if (end == 0 && !is_over && !also_open) return false;
  if (end == 0) chunk.has_open = true;
  const bool has_both_ends = call.start != 0 && end > kNoEnd;
  visit({.call = {.start = call.start,
                  .end = end,
                  .correlation = call.correlation,
                  .domain = call.domain,
                  .callback_id = call.callback_id,
                  .result = has_both_ends ? call.result : kSuccess},
         .thread_id = thread.thread_id,
         .has_both_ends = has_both_ends});
  ++thread.read_calls;
  return true;
}

void CallLog::go_to_next_chunk(ThreadCalls& thread, Chunk* next) {
  std::lock_guard lock(mutex_);
  Chunk* read = std::exchange(thread.read_chunk, next);
  thread.read_calls = 0;
  if (read->has_open)
    thread.kept.push_back(read);
  else
    release_locked(read);
}

void CallLog::remove_ended_threads() {
  std::lock_guard lock(mutex_);
  std::erase_if(threads_, [this](const std::unique_ptr<ThreadCalls>& thread) {
    if (!thread->has_ended || thread->read_calls != thread->read_chunk->begun.load() || thread->read_chunk->next.load() != nullptr)
      return false;
    release_locked(thread->read_chunk);
    for (Chunk* chunk : thread->kept) release_locked(chunk);
    return true;
  });
}

}  // namespace mindtorch::sources::cupti
