// The functions that the Python code of the bridge calls through ctypes.
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <cstdint>

#include "mindtorch/bridges/torch/applied_functions.h"
#include "mindtorch/bridges/torch/bridge.h"
#include "mindtorch/bridges/torch/memory_reports.h"
#include "mindtorch/bridges/torch/session_listener.h"
#include "mindtorch/record/state.h"

namespace bridge = mindtorch::torch_bridge;
namespace record = mindtorch::record;

extern "C" {

// The bits of what a listener is told, of which each asks for calls of modules.
extern const std::uint32_t mindtorch_torch_wants_modules = record::kModuleCalls;
// The bits that together ask for modules and optimizers as owners of memory.
extern const std::uint32_t mindtorch_torch_wants_owners = record::kMemory | record::kStacks;

// Null, or why not.
const char* mindtorch_torch_activate() { return bridge::activate(); }
const char* mindtorch_torch_version() { return bridge::torch_version(); }
void mindtorch_torch_listen(bridge::SessionListener listener) { bridge::set_session_listener(listener); }
void mindtorch_torch_ask_for_arguments(bridge::ArgumentSource source) { bridge::set_argument_source(source); }

// Whether a scope of ours that this thread enters is for torch: torch.jit traces what the thread does, and the scope becomes a part of the
// graph, or torch's own profiler runs and no session of ours.
int mindtorch_torch_takes_scopes() {
  if (torch::jit::tracer::isTracing()) return 1;
  return record::current_state() == 0 && torch::profiler::impl::profilerEnabled() ? 1 : 0;
}

// While torch.profiler runs on this thread, torch reports memory to it: it cannot start where somebody else is told.
void mindtorch_torch_leave_memory_reports() { bridge::unwatch_memory_reports(); }
void mindtorch_torch_retake_memory_reports() {
  if (record::wants(record::kMemory)) bridge::watch_memory_reports();
}

}  // extern "C"
