// The functions that the Python code of the bridge calls through ctypes.
#include <cstdint>
#include <new>
#include <utility>

#include "mindtorch/bridges/torch/bridge.h"
#include "mindtorch/bridges/torch/session_listener.h"
#include "mindtorch/record/hooks.h"

namespace bridge = mindtorch::torch_bridge;
namespace record = mindtorch::record;

extern "C" {

// The bit of what a listener is told that asks for calls of modules.
extern const std::uint32_t mindtorch_torch_wants_modules = record::kModules;

// Null, or why not.
const char* mindtorch_torch_activate() { return bridge::activate(); }
const char* mindtorch_torch_version() { return bridge::torch_version(); }
void mindtorch_torch_listen(bridge::SessionListener listener) { bridge::set_session_listener(listener); }

// Opens a scope, of an op or of an annotation; null while nothing records. End it with close_scope(), on any thread.
void* mindtorch_torch_open_scope(const char* name, int is_op) {
  record::NamedScope scope(name, is_op != 0 ? record::EventKind::kOp : record::EventKind::kScope);
  return scope.recording() ? new (std::nothrow) record::NamedScope(std::move(scope)) : nullptr;
}
void mindtorch_torch_close_scope(void* scope) { delete static_cast<record::NamedScope*>(scope); }

}  // extern "C"
