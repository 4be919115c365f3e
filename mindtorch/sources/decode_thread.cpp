// Decoding while a session runs.
#include "mindtorch/sources/decode_thread.h"

#include <pthread.h>

#include <exception>
#include <thread>

namespace mindtorch::sources {
namespace {

// keep_last looks for old records again when so many new ones came.
constexpr std::size_t kRemoveStep = std::size_t{1} << 16;

constexpr std::chrono::milliseconds kAfterFailure(10);

}  // namespace

void OldRecordRemover::remove_from(RecordStore& store, const record::SourceOptions& options, std::optional<std::uint64_t> now) {
  const std::uint64_t wanted = options.window_start();
  if (options.write_records) return;  // spill: nothing is too old
  if (now) moments_.emplace_back(options.clock.ticks(), *now);
  if (wanted == 0 || store.size() < size_when_removed_ + kRemoveStep) return;
  auto last = moments_.begin();
  while (last != moments_.end() && last->first <= wanted) ++last;
  if (last == moments_.begin()) return;
  store.forget_before({.vendor = (last - 1)->second, .session = (last - 1)->first});
  moments_.erase(moments_.begin(), last);
  size_when_removed_ = store.size();
}

void DecodeThread::start(const char* name, Steps steps) {
  steps_ = std::move(steps);
  stopping_ = false;
  failures_ = 0;
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), name);
}

void DecodeThread::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  pool_.wake();
  thread_.join();
}

void DecodeThread::attempt(const std::function<void()>& step) noexcept {
  try {
    step();
  } catch (const std::exception&) {
    ++failures_;
  }
}

void DecodeThread::run() {
  auto next_flush = std::chrono::steady_clock::now() + kFlushPeriod;
  while (!stopping_) {
    const std::uint64_t failed_before = failures_;
    attempt([&] { decode(pool_.wait_filled(steps_.longest_wait)); });
    // Without memory, the buffers stay where they are, and waiting for them takes no time.
    if (failures_ != failed_before && !stopping_) std::this_thread::sleep_for(kAfterFailure);
    if (stopping_) break;
    attempt(steps_.after_decoding);
    if (std::chrono::steady_clock::now() < next_flush) continue;
    attempt(steps_.flush);
    next_flush = std::chrono::steady_clock::now() + kFlushPeriod;
  }
  attempt(steps_.drain);
}

void DecodeThread::decode_filled() {
  for (std::vector<BufferPool::Filled> filled; !(filled = pool_.wait_filled(std::chrono::milliseconds(0))).empty();) decode(filled);
}

void DecodeThread::decode(const std::vector<BufferPool::Filled>& buffers) {
  for (const BufferPool::Filled& buffer : buffers) {
    attempt([&] { steps_.decode(buffer); });
    pool_.recycle(buffer);
  }
}

}  // namespace mindtorch::sources
