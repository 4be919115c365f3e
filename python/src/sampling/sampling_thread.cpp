// Looks at threads, and joins looks that found the same.
#include "python/src/sampling/sampling_thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "mindtorch/base/own_descriptors.h"
#include "mindtorch/record/state.h"

namespace mindtorch::python {
namespace {

using trace::ThreadState;

constexpr int kLargestShare = 100;          // looking takes at most this part of a processor
constexpr std::uint64_t kAdjustEvery = 32;  // looks
// What has been seen reaches the file of a recording that spills, and leaves that of a ring, so often.
constexpr std::int64_t kHandOverNs = 500'000'000;
constexpr std::int64_t kAskingForGilNs = 200'000;  // more than a thread runs to ask for the GIL a few times
constexpr std::chrono::nanoseconds kLongestInterval = std::chrono::milliseconds(200);

std::string name_of(std::int64_t thread) {
  std::string name;
  std::ifstream file(fmt::format("/proc/self/task/{}/comm", thread));
  std::getline(file, name);
  return name;
}

}  // namespace

SamplingThread::SamplingThread(const InterpreterPlaces& places, const record::SourceOptions& options, std::string hidden_folder)
    : options_(options), reader_(places), places_(std::move(hidden_folder)), interval_(options.sampling_interval), pid_(::getpid()) {
  thread_ = std::make_unique<std::thread>([this] { run(); });
}

SamplingThread::~SamplingThread() {
  if (thread_) static_cast<void>(stop());
}

bool SamplingThread::belongs_to_this_process() const { return pid_ == ::getpid(); }

record::DeviceBatch SamplingThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_one();
  thread_->join();
  thread_.reset();
  batch_.count_dropped(has_failed_ ? 1 : 0, "sampling ended early: there was no memory");
  batch_.count_dropped(dropped_, "samples over the byte budget of the recording");
  return std::move(batch_);
}

// Where there is no memory, looking ends, and the program goes on.
void SamplingThread::run() noexcept {
  try {
    keep_looking();
  } catch (const std::exception&) {
    has_failed_ = true;
  }
  known_.clear();  // their files belong to this thread
}

void SamplingThread::keep_looking() {
  ::pthread_setname_np(::pthread_self(), "mtprof-sampler");
  may_open_files_ = own_descriptors();  // the program may close any descriptor of its own table
  processor_time_ = processor_time(::gettid()).value_or(0);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    const std::uint64_t now = options_.clock.ticks();
    if ((record::current_state() & record::kEvents) != 0)
      look(now);
    else
      end_all(last_look_ticks_);
    hand_over(now);
    adjust_interval();
    const std::chrono::nanoseconds wait = pause();
    lock.lock();
    ends_.wait_for(lock, wait, [this] { return ending_; });
  }
  end_all(options_.clock.ticks());  // the session cuts off what is later than its end
}

// Steps of a program may take as long as the interval does: looks at even distances would always meet the same part of them.
std::chrono::nanoseconds SamplingThread::pause() {
  random_ = random_ * 1664525 + 1013904223;
  const auto tenths = static_cast<std::int64_t>(random_ >> 16) % 5;  // 0.8 to 1.2 of the interval
  return interval_ * (8 + tenths) / 10;
}

void SamplingThread::adjust_interval() {
  if (++looks_ % kAdjustEvery != 0) return;
  const std::int64_t now = processor_time(::gettid()).value_or(processor_time_);
  const std::chrono::nanoseconds cost((now - std::exchange(processor_time_, now)) / static_cast<std::int64_t>(kAdjustEvery));
  interval_ = std::clamp(kLargestShare * cost, options_.sampling_interval, std::max(options_.sampling_interval, kLongestInterval));
}

void SamplingThread::look(std::uint64_t now) {
  gil_holder_ = reader_.gil_holder();
  collects_garbage_ = gil_holder_ != 0 && reader_.collects_garbage();
  for (const ThreadReader::Thread& thread : reader_.threads()) look_at(thread, now);
  // Where processors are busy, the look before this one may be long ago.
  const auto interval_ticks = static_cast<std::uint64_t>(static_cast<double>(interval_.count()) / options_.clock.ns_per_tick());
  for (auto each = known_.begin(); each != known_.end();) {
    if (each->second.last_look == looks_) {
      ++each;
      continue;
    }
    end_sample(each->second, std::min(now, last_look_ticks_ + interval_ticks));  // the thread has ended since it was last seen
    each = known_.erase(each);
  }
  last_look_ticks_ = now;
}

void SamplingThread::look_at(const ThreadReader::Thread& thread, std::uint64_t now) {
  const std::optional<std::int64_t> ran = processor_time(thread.view.os_id);
  if (!ran) return;  // it has ended
  const auto [found, is_new] = known_.try_emplace(thread.view.os_id, thread.view.os_id, may_open_files_);
  Known& known = found->second;
  if (!is_new && known.state != thread.state) {  // another thread, with the number of one that has ended
    end_sample(known, now);
    known.waits = false;
  }
  known.state = thread.state;
  known.last_look = looks_;
  const std::int64_t ran_since = *ran - std::exchange(known.processor_time, *ran);
  if (known.waits && ran_since == 0) return;

  const std::span<const FrameView> frames = reader_.frames(thread, known.frames);
  const bool is_shown = place(known, frames);
  known.frames.assign(frames.begin(), frames.end());
  if (!is_shown) return end_sample(known, now);
  const auto time_since = static_cast<std::int64_t>(static_cast<double>(now - last_look_ticks_) * options_.clock.ns_per_tick());
  const ThreadState state = state_of(thread, known, is_new ? time_since : ran_since, time_since);
  const trace::StackId stack = batch_.stack_id(frames_);
  if (known.is_open && known.sample.stack == stack && known.sample.state == state) return;
  end_sample(known, now);
  known.sample = {.start = now, .end = now, .thread = static_cast<std::int32_t>(thread.view.os_id), .stack = stack, .state = state};
  known.is_open = true;
  if (batch_.threads.size() < ThreadReader::kMostThreads && !batch_.threads.contains(known.sample.thread))
    batch_.threads.emplace(known.sample.thread, record::ThreadIdentification{name_of(thread.view.os_id)});
}

bool SamplingThread::place(Known& known, std::span<const FrameView> frames) {
  frames_.clear();
  // Calls that were open in the last look, counted from the outermost.
  const auto settled = std::ranges::mismatch(frames.rbegin(), frames.rend(), known.frames.rbegin(), known.frames.rend(),
                                             [](const FrameView& a, const FrameView& b) { return a.frame == b.frame && a.code == b.code; });
  const auto first_settled = static_cast<std::size_t>(settled.in1.base() - frames.begin());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!frames[i].runs_code) continue;
    trace::Frame frame;
    if (places_.find(frames[i], i >= first_settled, batch_, frame) == CodePlaces::Found::kShown) frames_.push_back(frame);
  }
  return !frames_.empty();
}

// `ran`: for how long the thread has run in `time_since`, the time since the last look.
ThreadState SamplingThread::state_of(const ThreadReader::Thread& thread, Known& known, std::int64_t ran, std::int64_t time_since) {
  using Activity = ThreadActivity;
  const Activity::Now now = known.activity.now();
  const bool has_gil = thread.state == gil_holder_;
  known.waits = now.doing == Activity::Doing::kWaits;
  if (known.waits) {
    switch (now.what) {
      case Activity::For::kLock: return reader_.is_in_gil(now.lock) ? ThreadState::kWaitsForGil : ThreadState::kWaitsForLock;
      case Activity::For::kIo: return ThreadState::kWaitsForIo;
      case Activity::For::kTime: return ThreadState::kSleeps;
      case Activity::For::kUnknown: return ThreadState::kUnknown;
    }
  }
  if (now.doing == Activity::Doing::kUnknown) return ran > 0 ? ThreadState::kRunning : ThreadState::kUnknown;
  // A thread that waits for the GIL wakes up every few milliseconds to ask for it again, and may have to wait for a processor for that.
  const bool has_waited_for_gil = known.is_open && known.sample.state == ThreadState::kWaitsForGil;
  if (has_waited_for_gil && !has_gil && gil_holder_ != 0 && ran < kAskingForGilNs) return ThreadState::kWaitsForGil;
  // It is on a processor, or waits for one: then it has not run since its time was read, and for less than half of the time since.
  const bool is_on_processor = processor_time(thread.view.os_id).value_or(0) != known.processor_time;
  if (!is_on_processor && 2 * ran < time_since) return ThreadState::kNotScheduled;
  return has_gil && collects_garbage_ ? ThreadState::kCollectsGarbage : ThreadState::kRunning;
}

void SamplingThread::end_sample(Known& known, std::uint64_t now) {
  if (!std::exchange(known.is_open, false)) return;
  known.sample.end = std::max(now, known.sample.start);
  const std::size_t bytes =
      (batch_.samples.size() + 1) * sizeof(record::ThreadSample) + batch_.stacks().frame_ids.size() * sizeof(std::uint32_t);
  if (static_cast<std::int64_t>(bytes) > options_.record_bytes)
    ++dropped_;
  else
    batch_.samples.push_back(known.sample);
}

void SamplingThread::end_all(std::uint64_t now) {
  for (auto& [id, known] : known_) {
    end_sample(known, now);
    known.waits = false;  // so that the next look begins a new sample
  }
}

void SamplingThread::hand_over(std::uint64_t now) {
  if (static_cast<double>(now - last_hand_over_) * options_.clock.ns_per_tick() < kHandOverNs) return;
  last_hand_over_ = now;
  if (options_.write_records) {
    end_all(last_look_ticks_);
    options_.write_records(batch_);
  } else if (const std::uint64_t window = options_.window_start(); window != 0) {
    batch_.overwritten += std::erase_if(batch_.samples, [&](const record::ThreadSample& sample) { return sample.end < window; });
  }
}

}  // namespace mindtorch::python
