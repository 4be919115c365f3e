// The global interpreter lock: who has it, and how code that may or may not have it gets it.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// True if the calling thread may touch Python objects. Reads two pointers; unlike PyGILState_Check() it never guesses.
inline bool holds_gil() noexcept {
#if PY_VERSION_HEX >= 0x030D0000  // the same function, which became public
  PyThreadState* const running = PyThreadState_GetUnchecked();
#else
  PyThreadState* const running = _PyThreadState_UncheckedGet();
#endif
  return running != nullptr && running == PyGILState_GetThisThreadState();
}

// Has the GIL while it lives, whether the thread had it before or not; has nothing when there is no interpreter (any more).
class WithGil {
 public:
  WithGil() noexcept : held_(Py_IsInitialized() != 0) {
    if (held_) state_ = PyGILState_Ensure();
  }
  ~WithGil() {
    if (held_) PyGILState_Release(state_);
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_;
  PyGILState_STATE state_{};
};

}  // namespace mindtorch::python
