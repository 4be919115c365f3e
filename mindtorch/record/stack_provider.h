// StackProvider: a host's interface for call stacks. They are captured as opaque words while recording, and resolved to source locations
// when the session stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"

namespace mindtorch::record {

struct SourcePlace {
  std::string file;
  std::string function;
  int line = 0;
};

class MINDTORCH_EXPORT StackProvider {
 public:
  // A frame and the place in its code that it has reached.
  struct Innermost {
    const void* frame = nullptr;  // null: unknown
    const void* place = nullptr;
    bool operator==(const Innermost&) const = default;
  };

  virtual ~StackProvider() = default;
  // Returns the innermost frame of the calling thread. Two captures with the same innermost frame at the same place have the same stack, as
  // long as the code that the frame called from there has not returned in between. The rules for capture() apply.
  virtual Innermost innermost() noexcept { return {}; }
  // Writes the caller's stack as at most `capacity` words, innermost frame first, and returns how many were written. It is called on the
  // recording thread while an event opens, and must not throw, lock, allocate or open scopes.
  virtual std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept = 0;
  // Converts captured words to source locations, innermost first. It is called at stop, or by the spill thread during recording.
  virtual std::vector<SourcePlace> resolve(std::span<const std::uint64_t> words) = 0;
  // Called when a session that captures stacks begins, and when all of its words have been resolved. The objects that the words point to
  // must stay alive in between.
  virtual void session_begins() {}
  virtual void session_resolved() {}
};

// Installs the process's provider; null removes it. The provider must outlive every session that records stacks. Must not be called while a
// session runs.
MINDTORCH_EXPORT void set_stack_provider(StackProvider* provider);
MINDTORCH_EXPORT StackProvider* stack_provider();

}  // namespace mindtorch::record
