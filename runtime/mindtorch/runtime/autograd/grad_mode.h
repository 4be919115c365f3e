// Whether this thread records the graph for gradients.
#pragma once

#include "mindtorch/runtime/dispatch/thread_state.h"

namespace mindtorch {

class GradMode {
 public:
  static bool is_enabled() { return dispatch_thread_state.without_grad.empty(); }
  static void set_enabled(bool enabled) { dispatch_thread_state.without_grad = enabled ? DispatchKeySet() : kAutogradKeys; }
};

// A guard that sets the mode until it is destroyed. Guards can be nested.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) : saved_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  ~GradModeGuard() { GradMode::set_enabled(saved_); }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool saved_;
};

class NoGradGuard : public GradModeGuard {
 public:
  NoGradGuard() : GradModeGuard(false) {}
};

class EnableGradGuard : public GradModeGuard {
 public:
  EnableGradGuard() : GradModeGuard(true) {}
};

}  // namespace mindtorch
