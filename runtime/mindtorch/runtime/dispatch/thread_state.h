// The keys that a thread adds to and removes from each of its calls, and whether it records gradients.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dispatch/dispatch_key.h"

namespace mindtorch {

struct DispatchThreadState {
  DispatchKeySet included;
  DispatchKeySet excluded;
  DispatchKeySet without_grad;  // the autograd keys while gradients are switched off, else empty
};

// It is initial-exec and constinit, so that reading it takes one instruction and no call.
MINDTORCH_EXPORT extern constinit thread_local DispatchThreadState dispatch_thread_state __attribute__((tls_model("initial-exec")));

// The keys of a call after the state of this thread was applied.
inline DispatchKeySet effective_keys(DispatchKeySet keys) {
  const DispatchThreadState& state = dispatch_thread_state;
  return (keys | state.included) - (state.excluded | state.without_grad);
}

// A guard that adds keys to every call of this thread.
class IncludeKeys {
 public:
  explicit IncludeKeys(DispatchKeySet keys) : saved_(dispatch_thread_state.included) { dispatch_thread_state.included = saved_ | keys; }
  ~IncludeKeys() { dispatch_thread_state.included = saved_; }
  IncludeKeys(const IncludeKeys&) = delete;
  IncludeKeys& operator=(const IncludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

// A guard that removes keys from every call of this thread. It takes precedence over IncludeKeys.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(DispatchKeySet keys) : saved_(dispatch_thread_state.excluded) { dispatch_thread_state.excluded = saved_ | keys; }
  ~ExcludeKeys() { dispatch_thread_state.excluded = saved_; }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

// A guard for kernels below autograd: the ops that they call are not differentiated.
class BelowAutograd : public ExcludeKeys {
 public:
  BelowAutograd() : ExcludeKeys(kAutogradKeys) {}
};

}  // namespace mindtorch
