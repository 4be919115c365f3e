// When the runtime releases the GIL, and how its callbacks acquire it.
#pragma once

#include <Python.h>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/tensor.h"
#include "python/src/gil.h"

namespace mindtorch::python {

// Whether the GIL should be released while an op works on the tensor. An op on fewer elements ends before another thread could wake up.
// The GIL is kept while stacks are recorded, because the frames of the interpreter are read when ops start.
inline bool is_worth_releasing(const Tensor& tensor) {
  constexpr std::int64_t kLargeWork = 1 << 14;
  return tensor.defined() && (tensor.numel() >= kLargeWork || !tensor.is_cpu()) && !record::wants(record::kStacks);
}

// For code that any thread may run, with or without the GIL. Stops the thread if the interpreter is about to finalize.
class HeldGil {
 public:
  HeldGil() noexcept {
    if (!gil_) stop_this_thread();
  }

 private:
  WithGil gil_;
};

// A Python object that C++ owns and can release on any thread, even after the interpreter has ended.
class ForeignReference {
 public:
  explicit ForeignReference(PyObject* object) : object_(Py_NewRef(object)) {}
  ~ForeignReference() {
    if (const WithGil gil; gil) Py_DECREF(object_);
  }
  ForeignReference(const ForeignReference&) = delete;
  ForeignReference& operator=(const ForeignReference&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

}  // namespace mindtorch::python
