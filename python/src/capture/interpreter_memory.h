// The interpreter's memory as a thread without the GIL reads it: copies of its structures, which may be out of date or, if the memory was
// given back meanwhile, anything. One source per family of versions in interpreter/ knows their layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mindtorch::python {

using Address = std::uintptr_t;

// Where the interpreter keeps what does not move. Other interpreters of the process (subinterpreters) are not looked at.
struct InterpreterPlaces {
  Address main_interpreter = 0;
  Address newest_thread = 0;  // of the main interpreter: holds the address of a thread's state
  Address gil = 0;            // threads that wait for it wait at an address in here
  std::size_t gil_bytes = 0;
  Address gil_holder = 0;  // holds the address of the state of the thread that had it last
  Address gil_locked = 0;  // holds an int: 1 while a thread has it
  Address collecting = 0;  // holds an int: 1 while the cyclic garbage collector runs
};
// Needs the GIL. Nothing if the layout of this build of Python is not known.
std::optional<InterpreterPlaces> interpreter_places() noexcept;

// The state of a thread. `frame` is that of its innermost call or, if `frame_is_indirect`, where the address of it is.
struct ThreadView {
  Address next = 0;  // the thread that began before it
  Address interpreter = 0;
  Address frame = 0;
  bool frame_is_indirect = false;
  std::int64_t os_id = 0;  // 0: unknown
  Address pthread = 0;     // the pthread_t, if os_id is unknown
  Address stack = 0;       // the memory that holds the frames of most of its calls; 0: each frame is an object
  Address stack_end = 0;
};
struct FrameView {
  Address frame = 0;
  Address caller = 0;
  Address code = 0;
  std::int64_t offset = 0;  // of the instruction in the code, in bytes
  bool runs_code = true;    // false: it stands for C code
  friend bool operator==(const FrameView&, const FrameView&) = default;
};
struct CodeView {
  Address type = 0;
  Address file = 0;
  Address name = 0;
  Address lines = 0;  // bytes that say which line an instruction is of
  int first_line = 0;
  std::int64_t first_offset = 0;  // what comes before it prepares the call
  friend bool operator==(const CodeView&, const CodeView&) = default;
};

// How many bytes of a structure are read, and what they say. Copies are aligned as pointers.
inline constexpr std::size_t kMostViewBytes = 1024;
std::size_t thread_bytes() noexcept;
std::size_t frame_bytes() noexcept;
std::size_t code_bytes() noexcept;
ThreadView view_thread(const void* copy) noexcept;
FrameView view_frame(const void* copy, Address frame) noexcept;
CodeView view_code(const void* copy) noexcept;

}  // namespace mindtorch::python
