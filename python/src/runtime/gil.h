// Giving the interpreter to other threads while C++ works, and taking it back.
#pragma once

#include <Python.h>

#include "mindtorch/record/hooks.h"

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
