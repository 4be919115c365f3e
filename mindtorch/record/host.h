// A host: a runtime whose ops are recorded. Registering one lets a session switch its callbacks on and ask for its memory totals.
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
  // A session starts: switch on what `wants` (Want bits) asks for. Called on the thread that starts the session, before the first event can
  // be recorded. The recorder holds no lock meanwhile.
  virtual Status session_starts(std::uint32_t wants) = 0;
  // The session has stopped, and nothing is recorded any more. Called on the thread that stops it.
  virtual void session_stops() = 0;
  // Totals of the host's allocators now.
  virtual std::vector<trace::MemoryBaseline> memory_totals() { return {}; }
};

// The host must outlive its registration. Any thread; not from inside a Host call.
MINDTORCH_EXPORT void register_host(Host* host);
MINDTORCH_EXPORT void unregister_host(Host* host);
MINDTORCH_EXPORT std::vector<Host*> hosts();

}  // namespace mindtorch::record
