// The bridge as a host: what is switched on when a session starts, and off when it stops.
#include "mindtorch/bridges/torch/bridge.h"

#include <torch/version.h>

#include "mindtorch/bridges/torch/cpu_memory.h"
#include "mindtorch/bridges/torch/kept_addresses.h"
#include "mindtorch/bridges/torch/memory_reports.h"
#include "mindtorch/bridges/torch/op_callbacks.h"
#include "mindtorch/bridges/torch/operators.h"
#include "mindtorch/bridges/torch/session_listener.h"
#include "mindtorch/record/foreign_host.h"

namespace mindtorch::torch_bridge {
namespace {

const char* session_starts(std::uint32_t wants) noexcept {
  const char* problem = add_op_callbacks(wants);
  const char* memory_problem = (wants & record::kMemory) != 0 ? watch_cpu_memory() : nullptr;
  if ((wants & record::kMemory) != 0) watch_memory_reports();
  tell_listener(wants);
  return problem != nullptr ? problem : memory_problem;
}

void session_stops() noexcept {
  tell_listener(0);
  unwatch_memory_reports();
  unwatch_cpu_memory();
  remove_op_callbacks();
  release_addresses();
}

}  // namespace

const char* activate() noexcept try {
  watch_operators();
  return record::register_foreign_host({.name = "torch", .session_starts = session_starts, .session_stops = session_stops});
} catch (...) {
  return "out of memory";
}

const char* torch_version() noexcept { return TORCH_VERSION; }

}  // namespace mindtorch::torch_bridge
