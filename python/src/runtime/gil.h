// Giving the interpreter to other threads while C++ works, and taking it back.
#pragma once

#include <Python.h>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::python {

// Lets other Python threads run until the end of the scope, if `when`.
class ReleasedGil {
 public:
  explicit ReleasedGil(bool when = true) : state_(when ? PyEval_SaveThread() : nullptr) {}
  ~ReleasedGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Whether other threads should run while an op works on the tensor: below this many elements it is over before one would have woken up.
// Not while stacks are recorded: the interpreter's frames are read when ops start.
inline bool is_worth_releasing(const Tensor& tensor) {
  constexpr std::int64_t kLargeWork = 1 << 14;
  return tensor.defined() && (tensor.numel() >= kLargeWork || !tensor.is_cpu()) && !record::wants(record::kStacks);
}

// For code that any thread may run, with or without the GIL.
class HeldGil {
 public:
  HeldGil() : state_(PyGILState_Ensure()) {}
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// A Python object that C++ owns and lets go of on any thread, also after the interpreter has ended.
class ForeignReference {
 public:
  explicit ForeignReference(PyObject* object) : object_(Py_NewRef(object)) {}
  ~ForeignReference() {
    if (Py_IsInitialized() == 0) return;
    HeldGil gil;
    Py_DECREF(object_);
  }
  ForeignReference(const ForeignReference&) = delete;
  ForeignReference& operator=(const ForeignReference&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

}  // namespace mindtorch::python
