// Python call stacks for events: captured from the interpreter's frames, resolved when the session stops.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "mindtorch/record/stack_provider.h"
#include "python/src/capture/seen_code.h"

namespace mindtorch::python {

// The frames of the package mindtorch_v2 itself are left out. capture() is for any thread, with the GIL or (an op of PyTorch, which
// releases it) without; a thread that Python does not know has an empty stack. resolve() and the ends of a session may be called with or
// without the GIL; they take it when they need it.
class FrameStacks final : public record::StackProvider {
 public:
  Innermost innermost() noexcept override;
  std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept override;
  std::vector<record::SourcePlace> resolve(std::span<const std::uint64_t> words) override;
  void session_begins() override;
  void session_resolved() override { forget(); }

 private:
  // A code object as plain data, which can be read without the GIL.
  struct Lines {
    std::uint32_t end = 0;  // byte code before this offset and after the previous end ...
    int line = 0;           // ... is of this line
  };
  struct Source {
    std::string file;
    std::string function;
    std::vector<Lines> lines;
    int first_line = 0;
  };

  static Source read(PyCodeObject* code);
  static int line_at(const Source& source, std::uint32_t offset);
  // Makes plain data of all code objects seen so far, so that the GIL is taken once and not for each stack.
  void read_new_code();
  void forget();
  // Leaves the frames of this package out: the user's stack ends where the user's code calls it.
  void hide_package();

  // The numbers of code as this thread may ask for them without the GIL. Null if there is no memory for them.
  SeenCode* seen_without_gil() noexcept;

  SeenCode seen_;                         // under the GIL
  std::atomic<std::uint64_t> epoch_ = 1;  // changes when seen_ is cleared
  bool package_is_hidden_ = false;
  std::vector<Source> sources_;  // by number; of the thread that resolves
};

}  // namespace mindtorch::python
