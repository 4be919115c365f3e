// Host: a runtime whose ops are recorded. A session switches on the callbacks of each registered host and reads its memory totals.
#pragma once

#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/record/state.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

class MINDTORCH_EXPORT Host {
 public:
  virtual ~Host() = default;
  virtual std::string_view name() const = 0;  // "embedded", "torch"
  // Called when a session starts. The host must switch on the callbacks for `wants` (Want bits). It is called on the thread that starts the
  // session, before the first event can be recorded, and without a lock of the recorder.
  virtual Status session_starts(std::uint32_t wants) = 0;
  // Called when the session has stopped and nothing is being recorded any more, on the thread that stops it.
  virtual void session_stops() = 0;
  // Returns the current totals of the host's allocators.
  virtual std::vector<trace::MemoryBaseline> memory_totals() { return {}; }
};

// The host must outlive its registration. May be called on any thread, but not from inside a call of a Host.
MINDTORCH_EXPORT void register_host(Host* host);
MINDTORCH_EXPORT void unregister_host(Host* host);
MINDTORCH_EXPORT std::vector<Host*> hosts();

}  // namespace mindtorch::record
