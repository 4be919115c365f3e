// The global interpreter lock: who has it, and how code that may or may not have it gets it.
#pragma once

#include <Python.h>

#include "python/src/interpreter_exit.h"

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

// Has the GIL while it lives, whether the thread had it before or not; has nothing when there is no interpreter, or when the interpreter
// is about to finalize and the thread would have to ask for the GIL.
class WithGil {
 public:
  WithGil() noexcept {
    if (Py_IsInitialized() == 0) return;
    asks_ = !holds_gil();
    if (asks_ && !begin_stay()) return;
    held_ = true;
    state_ = PyGILState_Ensure();
  }
  ~WithGil() {
    if (!held_) return;
    PyGILState_Release(state_);
    if (asks_) end_stay();
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  explicit operator bool() const noexcept { return held_; }

 private:
  bool asks_ = false;
  bool held_ = false;
  PyGILState_STATE state_{};
};

// Takes the GIL back that PyEval_SaveThread() gave up. Does not return if the interpreter is about to finalize: no lock may be held.
inline void take_gil_back(PyThreadState* state) noexcept {
  if (!begin_stay()) stop_this_thread();
  PyEval_RestoreThread(state);
  end_stay();
}

// Releases the GIL until it is destroyed, if `when`.
class ReleasedGil {
 public:
  explicit ReleasedGil(bool when = true) : state_(when ? PyEval_SaveThread() : nullptr) {}
  ~ReleasedGil() {
    if (state_ != nullptr) take_gil_back(state_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace mindtorch::python
