// DecodeThread: decodes a vendor's buffers while a session runs, and has the library hand over half-filled ones from time to time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "mindtorch/record/source.h"
#include "mindtorch/sources/buffers.h"
#include "mindtorch/sources/record_store.h"

namespace mindtorch::sources {

// keep_last: drops the records of a store that are older than what a session wants. The session tells the start of its window in its own
// ticks, while records have the vendor's times.
class OldRecordRemover {
 public:
  // Call every now and then. `now` is the vendor's time, if it can be read.
  void remove_from(RecordStore& store, const record::SourceOptions& options, std::optional<std::uint64_t> now);

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moments_;  // on the session's clock and on the vendor's
  std::size_t size_when_removed_ = 0;
};

class DecodeThread {
 public:
  // How often records that lie in half-filled buffers are fetched.
  static constexpr std::chrono::milliseconds kFlushPeriod{500};

  struct Steps {
    std::function<void(const BufferPool::Filled& buffer)> decode;
    std::function<void()> after_decoding;                   // each time that buffers may have been decoded
    std::function<void()> flush;                            // asks the library for half-filled buffers
    std::function<void()> drain;                            // the last step, before stop() returns
    std::chrono::milliseconds longest_wait = kFlushPeriod;  // for buffers, before after_decoding is called again
  };

  explicit DecodeThread(BufferPool& pool) : pool_(pool) {}
  ~DecodeThread() { stop(); }

  // All steps are called on a thread of that name.
  void start(const char* name, Steps steps);
  bool is_running() const { return thread_.joinable(); }
  void stop();
  // How often a step has failed since start(), which is always for want of memory. Call it after stop().
  std::uint64_t failures() const { return failures_; }
  // Decodes every buffer that has come back. For `drain` only.
  void decode_filled();

 private:
  void run();
  // An exception would end the program, on a thread that it does not know.
  void attempt(const std::function<void()>& step) noexcept;
  void decode(const std::vector<BufferPool::Filled>& buffers);

  BufferPool& pool_;
  Steps steps_;
  std::atomic<bool> stopping_{false};
  std::uint64_t failures_ = 0;  // of the thread
  std::thread thread_;
};

}  // namespace mindtorch::sources
