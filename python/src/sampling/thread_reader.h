// ThreadReader: which threads run Python, and the calls that each is in the middle of, read without the GIL and without stopping anyone.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "python/src/capture/interpreter_memory.h"

namespace mindtorch::python {

// One thread at a time.
class ThreadReader {
 public:
  static constexpr std::size_t kMostThreads = 4096;
  static constexpr std::size_t kMostFrames = 256;  // those further out are left out

  explicit ThreadReader(const InterpreterPlaces& places) : places_(places) {}

  struct Thread {
    Address state = 0;
    ThreadView view;
  };
  // The threads that have a state now. One that begins or ends meanwhile may be missing.
  std::span<const Thread> threads();
  // The calls of a thread, innermost first; `before` are those that were read last, which are likely to be there still. Valid until the
  // next call. Frames that stand for C code are among them. Empty if the thread has no calls of Python, or changes them faster than they
  // can be read.
  std::span<const FrameView> frames(const Thread& thread, std::span<const FrameView> before);

  // The state of the thread that holds the GIL now; 0: nobody.
  Address gil_holder() const;
  bool collects_garbage() const;
  // Whether a thread that waits at this address waits for the GIL.
  bool is_in_gil(Address address) const { return address >= places_.gil && address < places_.gil + places_.gil_bytes; }

 private:
  bool read_frames(const Thread& thread, std::span<const FrameView> before);
  // Copies the thread's state and what its frames are likely to lie in, all at once.
  bool copy(const Thread& thread, std::span<const FrameView> before, ThreadView& view, Address& innermost);
  bool read_frame(Address frame, FrameView& into) const;
  bool is_in_stack(Address frame) const { return frame >= stack_from_ && frame - stack_from_ < stack_bytes_; }
  std::int64_t os_id_of(const ThreadView& view);

  const InterpreterPlaces places_;
  std::vector<Thread> threads_;
  std::vector<FrameView> frames_;
  std::vector<std::byte> stack_;  // a copy of the memory from stack_from_ on
  Address stack_from_ = 0;
  std::size_t stack_bytes_ = 0;
  std::vector<Address> likely_;         // frames elsewhere ...
  std::vector<std::byte> likely_copy_;  // ... and their copies, frame_bytes() apart
  std::size_t os_id_offset_ = 0;        // in what a pthread_t leads to; 0: unknown
};

}  // namespace mindtorch::python
