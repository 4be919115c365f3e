// CallLog: the calls of the CUDA runtime and driver, written down by CUPTI's callbacks on the threads that make them.
//
// Each thread appends to a log of its own. The decoding thread takes the calls that have ended, while the program goes on. A callback
// takes no lock and allocates nothing, except once for each thread and once for every kCallsInChunk calls of a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/record/clock.h"
#include "mindtorch/sources/cupti/cupti_abi.h"

namespace mindtorch::sources::cupti {

struct Call {
  std::uint64_t start;  // ticks of the session's clock; 0 if the call was entered before anything was written down
  std::uint64_t end;    // 0 while the call is under way
  std::uint32_t correlation;
  std::uint32_t domain;  // CallbackDomain
  std::uint32_t callback_id;
  Result result;
};
static_assert(sizeof(Call) == 32);

// What the decoding thread gets to know of a call.
struct TakenCall {
  Call call;
  std::uint32_t thread_id;    // of the OS
  bool has_both_ends = true;  // otherwise one was not seen, and the times and the result mean nothing
};

// One for the process, never destroyed: a callback may be on its way at any time. One thread at a time may begin and end, and one may take
// calls; the others are for any thread.
class CallLog {
 public:
  static constexpr std::size_t kCallsInChunk = 512;

  // Calls are recorded from begin() to end(), in ticks of this clock, which must outlive all callbacks unless it is the hardware's. Of a
  // call that is entered before or left afterwards, one end is not seen.
  void begin(record::Clock& clock);
  void end();
  bool is_on() const noexcept { return epoch_.load(std::memory_order_relaxed) != 0; }
  // The time on the clock of begin().
  std::uint64_t ticks() const noexcept { return ticks(epoch_.load(std::memory_order_relaxed)); }

  // CUPTI's callback at both ends of a call. A call inside of a call with the same correlation is a part of it and is left out: the runtime
  // calls the driver.
  void called_back(std::uint32_t domain, std::uint32_t callback_id, const CallbackData& data) noexcept;

  using Visit = std::function<void(const TakenCall& taken)>;
  // Hands over the calls that have ended, those of each thread in the order in which they began, up to the first one that is under way.
  void take_ended(const Visit& visit) { take(visit, false); }
  // Hands over all calls.
  void take_all(const Visit& visit) { take(visit, true); }
  // The number of calls that were left out because memory was missing or they were nested too deeply, since it was last asked for.
  std::uint64_t take_refused() noexcept { return refused_.exchange(0, std::memory_order_relaxed); }

 private:
  // A thread seldom makes a call inside of another one, and hardly ever one inside of that.
  static constexpr std::uint32_t kDeepest = 16;
  // What the decoding thread may be behind by: two million calls, 64 MB.
  static constexpr std::size_t kMostChunks = 4096;
  static constexpr std::size_t kSpareChunks = 16;  // kept between sessions
  // The end of a call whose end will never be seen.
  static constexpr std::uint64_t kNoEnd = 1;

  struct Chunk {
    std::array<Call, kCallsInChunk> calls;
    std::atomic<std::uint32_t> begun{0};  // so many calls are published
    std::atomic<Chunk*> next{nullptr};
    bool has_open = false;  // the taker went past a call that was under way, so that its thread may still write to it
  };
  struct alignas(128) ThreadCalls {
    // Of the thread.
    std::atomic<std::uint64_t> epoch{0};  // the one that it has joined
    Chunk* chunk = nullptr;
    std::uint32_t depth = 0;
    std::array<Call*, kDeepest> open{};
    // Of the taker.
    Chunk* read_chunk = nullptr;
    std::uint32_t read_calls = 0;
    // Guarded by the mutex.
    std::uint32_t thread_id = 0;
    bool has_ended = false;
    std::vector<Chunk*> kept;  // read, but the thread may still write to them
  };
  class ThreadEnd;

  std::uint64_t ticks(std::uint64_t epoch) const noexcept {
    return (epoch & kHardwareClock) != 0 ? record::hardware_ticks() : clock_.load(std::memory_order_acquire)->ticks();
  }
  // Room for one more call of the thread, which publish() shows to the taker. Null if there is none, which is counted.
  Call* new_call(ThreadCalls& thread, std::uint32_t domain, std::uint32_t callback_id, std::uint32_t correlation) noexcept;
  static void publish(ThreadCalls& thread) noexcept;
  static bool has_open_call(const ThreadCalls& thread, std::uint32_t correlation) noexcept;
  // The log of this thread, which joins the epoch if it has not yet; null if there is no memory.
  ThreadCalls* thread_in(std::uint64_t epoch) noexcept;
  void enter(std::uint64_t epoch, std::uint32_t domain, std::uint32_t callback_id, std::uint32_t correlation) noexcept;
  void leave(std::uint64_t epoch, std::uint32_t domain, std::uint32_t callback_id, const CallbackData& data) noexcept;
  ThreadCalls* join(std::uint64_t epoch) noexcept;
  ThreadCalls* add_thread() noexcept;
  bool add_chunk(ThreadCalls& thread) noexcept;
  Chunk* new_chunk_locked() noexcept;
  void release_locked(Chunk* chunk) noexcept;
  static void abandon_open_calls(ThreadCalls& thread) noexcept;

  void take(const Visit& visit, bool also_open);
  bool take_next(ThreadCalls& thread, const Visit& visit, bool also_open);
  void go_to_next_chunk(ThreadCalls& thread, Chunk* next);
  void remove_ended_threads();
  static void install_fork_handlers();

  static constexpr std::uint64_t kHardwareClock = 1;  // of an epoch

  std::atomic<std::uint64_t> epoch_{0};  // 0: off
  std::atomic<record::Clock*> clock_{nullptr};
  std::atomic<std::uint64_t> refused_{0};
  std::uint64_t last_epoch_ = 0;

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<ThreadCalls>> threads_;
  std::vector<Chunk*> spare_;
  std::size_t chunks_ = 0;
};

// The one of the process.
CallLog& call_log();

}  // namespace mindtorch::sources::cupti
