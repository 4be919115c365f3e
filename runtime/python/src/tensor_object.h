// mindtorch_v2.Tensor: the Python object around a Tensor. One tensor has at most one such object at a time, so that `x.add_(1) is x` and
// attributes set by users stay. All functions need the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch::python {

namespace nb = nanobind;

// Makes the type. Called once, before all other functions of this file.
PyTypeObject* create_tensor_type();
PyTypeObject* tensor_type();

inline bool is_tensor(PyObject* object) { return PyObject_TypeCheck(object, tensor_type()); }
// The object must be a tensor.
const Tensor& unwrap(PyObject* object);

// A new reference to the tensor's object; None for an undefined tensor. Null with a Python error if there is no memory.
PyObject* wrap(const Tensor& tensor);
// A new object of a subclass, for a tensor that has no object yet.
PyObject* wrap_as(PyTypeObject* type, const Tensor& tensor);

}  // namespace mindtorch::python

// Tensors as parameters and results of functions bound with nanobind. None is an undefined tensor where .none() allows it.
template <>
struct nanobind::detail::type_caster<mindtorch::Tensor> {
  NB_TYPE_CASTER(mindtorch::Tensor, const_name("mindtorch_v2.Tensor"))

  template <class Flags>  // of a width that depends on nanobind's version
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    if (!mindtorch::python::is_tensor(source.ptr())) return false;
    value = mindtorch::python::unwrap(source.ptr());
    return true;
  }
  static handle from_cpp(const mindtorch::Tensor& tensor, rv_policy, cleanup_list*) noexcept { return mindtorch::python::wrap(tensor); }
};
