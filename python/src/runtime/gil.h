// Releases the GIL while C++ works, and acquires it again.
#pragma once

#include <Python.h>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::python {

// A guard that releases the GIL until it is destroyed, if `when`.
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

// Whether the GIL should be released while an op works on the tensor. An op on fewer elements ends before another thread could wake up.
// The GIL is kept while stacks are recorded, because the frames of the interpreter are read when ops start.
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

// A Python object that C++ owns and can release on any thread, even after the interpreter has ended.
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
