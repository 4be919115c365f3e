// What a thread adds to and takes from the keys of every call it makes, and whether it records gradients.
#pragma once

#include "mindtorch/runtime/dispatch/dispatch_key.h"

namespace mindtorch {

struct DispatchThreadState {
  DispatchKeySet included;
  DispatchKeySet excluded;
  DispatchKeySet without_grad;  // the autograd keys while gradients are switched off, else empty
};

// initial-exec and constinit: reading it is one instruction, without a call.
extern constinit thread_local DispatchThreadState dispatch_thread_state __attribute__((tls_model("initial-exec")));

// The keys of a call after the thread's wishes.
inline DispatchKeySet effective_keys(DispatchKeySet keys) {
  const DispatchThreadState& state = dispatch_thread_state;
  return (keys | state.included) - (state.excluded | state.without_grad);
}

// Adds keys to every call of this thread while it lives.
class IncludeKeys {
 public:
  explicit IncludeKeys(DispatchKeySet keys) : saved_(dispatch_thread_state.included) { dispatch_thread_state.included = saved_ | keys; }
  ~IncludeKeys() { dispatch_thread_state.included = saved_; }
  IncludeKeys(const IncludeKeys&) = delete;
  IncludeKeys& operator=(const IncludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

// Takes keys out of every call of this thread while it lives; wins over IncludeKeys.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(DispatchKeySet keys) : saved_(dispatch_thread_state.excluded) { dispatch_thread_state.excluded = saved_ | keys; }
  ~ExcludeKeys() { dispatch_thread_state.excluded = saved_; }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;

 private:
  DispatchKeySet saved_;
};

// Inside a kernel below autograd: calls of other ops are not differentiated.
class BelowAutograd : public ExcludeKeys {
 public:
  BelowAutograd() : ExcludeKeys(kAutogradKeys) {}
};

}  // namespace mindtorch
