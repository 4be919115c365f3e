// Threads and frames out of copies of the interpreter's memory.
#include "python/src/sampling/thread_reader.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <thread>

#include "python/src/sampling/own_memory.h"

namespace mindtorch::python {
namespace {

constexpr std::size_t kMostStackBytes = std::size_t{1} << 20;  // of a chunk of the interpreter's stack; mostly it has 16 KiB
constexpr std::size_t kMostLikely = 100;
constexpr int kAttempts = 3;

using Copy = std::array<std::byte, kMostViewBytes>;

// The offset of the system's number of a thread in what its pthread_t leads to, which the C library does not tell: the place where two
// threads have theirs. 0 if there is none.
std::size_t find_os_id_offset() {
  constexpr std::size_t kSearched = 2048;
  const auto candidates = [] {
    std::vector<std::size_t> found;
    const auto self = static_cast<Address>(::pthread_self());
    const pid_t id = ::gettid();
    for (std::size_t at = sizeof id; at < kSearched; at += sizeof id) {
      pid_t value = 0;
      if (read_value(self + at, value) && value == id) found.push_back(at);
    }
    return found;
  };
  const std::vector<std::size_t> here = candidates();
  std::vector<std::size_t> there;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      there = candidates();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure != nullptr) std::rethrow_exception(failure);
  const auto both = std::ranges::find_if(here, [&](std::size_t at) { return std::ranges::find(there, at) != there.end(); });
  return both != here.end() ? *both : 0;
}

}  // namespace

std::int64_t ThreadReader::os_id_of(const ThreadView& view) {
  if (view.os_id != 0 || view.pthread == 0) return view.os_id;
  if (os_id_offset_ == 0) os_id_offset_ = find_os_id_offset();
  pid_t id = 0;
  return os_id_offset_ != 0 && read_value(view.pthread + os_id_offset_, id) ? id : 0;
}

std::span<const ThreadReader::Thread> ThreadReader::threads() {
  threads_.clear();
  alignas(std::max_align_t) Copy copy;
  Address state = 0;
  if (!read_value(places_.newest_thread, state)) return {};
  while (state != 0 && threads_.size() < kMostThreads) {
    if (!read_memory(state, copy.data(), thread_bytes())) break;
    ThreadView view = view_thread(copy.data());
    if (view.interpreter != places_.main_interpreter) break;  // the state was given back, and what followed it is unknown
    view.os_id = os_id_of(view);
    if (view.os_id > 0) threads_.push_back({state, view});
    state = view.next;
  }
  return threads_;
}

bool ThreadReader::copy(const Thread& thread, std::span<const FrameView> before, ThreadView& view, Address& innermost) {
  alignas(std::max_align_t) Copy state;
  const std::size_t frame_size = frame_bytes();
  stack_from_ = thread.view.stack;
  stack_bytes_ = thread.view.stack_end > thread.view.stack ? thread.view.stack_end - thread.view.stack : 0;
  if (stack_from_ == 0 || stack_bytes_ > kMostStackBytes) stack_bytes_ = 0;
  if (stack_.size() < stack_bytes_) stack_.resize(stack_bytes_);
  likely_.clear();
  for (const FrameView& frame : before)
    if (!is_in_stack(frame.frame) && likely_.size() < kMostLikely) likely_.push_back(frame.frame);
  if (likely_copy_.size() < likely_.size() * frame_size) likely_copy_.resize(likely_.size() * frame_size);

  std::array<MemoryPart, kMostLikely + 3> parts;
  std::size_t count = 0;
  parts[count++] = {thread.state, state.data(), thread_bytes()};
  if (thread.view.frame_is_indirect) parts[count++] = {thread.view.frame, &innermost, sizeof innermost};
  const std::size_t sure = count;
  if (stack_bytes_ > 0) parts[count++] = {stack_from_, stack_.data(), stack_bytes_};
  for (std::size_t i = 0; i < likely_.size(); ++i) parts[count++] = {likely_[i], likely_copy_.data() + i * frame_size, frame_size};
  if (!read_parts(std::span(parts).first(count))) {
    stack_bytes_ = 0;
    likely_.clear();
    if (!read_parts(std::span(parts).first(sure))) return false;
  }
  view = view_thread(state.data());
  if (!view.frame_is_indirect)
    innermost = view.frame;
  else if (view.frame != thread.view.frame && !read_value(view.frame, innermost))
    return false;
  return view.interpreter == places_.main_interpreter;
}

// The frames of most calls lie in the thread's stack, those of generators and coroutines in their objects.
bool ThreadReader::read_frame(Address frame, FrameView& into) const {
  if (frame % alignof(void*) != 0) return false;
  const std::size_t bytes = frame_bytes();
  if (is_in_stack(frame) && frame - stack_from_ + bytes <= stack_bytes_) {
    into = view_frame(stack_.data() + (frame - stack_from_), frame);
    return true;
  }
  if (const auto known = std::ranges::find(likely_, frame); known != likely_.end()) {
    into = view_frame(likely_copy_.data() + static_cast<std::size_t>(known - likely_.begin()) * bytes, frame);
    return true;
  }
  alignas(std::max_align_t) Copy copy;
  if (!read_memory(frame, copy.data(), bytes)) return false;
  into = view_frame(copy.data(), frame);
  return true;
}

bool ThreadReader::read_frames(const Thread& thread, std::span<const FrameView> before) {
  frames_.clear();
  ThreadView view;
  Address frame = 0;
  if (!copy(thread, before, view, frame)) return false;
  for (std::size_t depth = 0; frame != 0 && depth < kMostFrames; ++depth) {
    FrameView it;
    // A call lies above its caller and below the end of the stack, unless the copies are of different moments.
    if (is_in_stack(frame) && view.stack == stack_from_ && frame >= view.stack_end) return false;
    if (!read_frame(frame, it)) return false;
    if (is_in_stack(frame) && is_in_stack(it.caller) && it.caller >= frame) return false;
    frames_.push_back(it);
    frame = it.caller;
  }
  return true;
}

std::span<const FrameView> ThreadReader::frames(const Thread& thread, std::span<const FrameView> before) {
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if (read_frames(thread, before)) return frames_;
  return {};
}

Address ThreadReader::gil_holder() const {
  int locked = 0;
  Address holder = 0;
  if (!read_value(places_.gil_locked, locked) || locked != 1 || !read_value(places_.gil_holder, holder)) return 0;
  return holder;
}

bool ThreadReader::collects_garbage() const {
  int collecting = 0;
  return read_value(places_.collecting, collecting) && collecting == 1;
}

}  // namespace mindtorch::python
