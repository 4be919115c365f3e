// How a host gives call stacks: opaque words while recording, source places when the session stops.
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
  // A frame and the place where it is.
  struct Innermost {
    const void* frame = nullptr;  // null: unknown
    const void* place = nullptr;
    bool operator==(const Innermost&) const = default;
  };

  virtual ~StackProvider() = default;
  // Of the calling thread. As long as the code that a frame has called from one place does not return, whoever finds that frame innermost
  // at that place has the same stack. Called as capture() is.
  virtual Innermost innermost() noexcept { return {}; }
  // The caller's stack as at most `capacity` words, innermost frame first; returns how many were written. Called on the recording thread
  // while an event opens: must not throw, lock, allocate or open scopes.
  virtual std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept = 0;
  // Turns captured words into places, innermost first. Called at stop, or by the spill thread while recording goes on.
  virtual std::vector<SourcePlace> resolve(std::span<const std::uint64_t> words) = 0;
  // The session whose words resolve() will be asked for begins / has been resolved: keep what the words point to alive in between.
  virtual void session_begins() {}
  virtual void session_resolved() {}
};

// Installs the process's provider (null removes it); it must outlive every session that records stacks. Not while a session runs.
MINDTORCH_EXPORT void set_stack_provider(StackProvider* provider);
MINDTORCH_EXPORT StackProvider* stack_provider();

}  // namespace mindtorch::record
