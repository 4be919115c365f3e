// Tensor's methods that are not ops: geometry, values for Python, flags of autograd.
#include "mindtorch/runtime/functions.h"
#include "python/src/text.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/autograd.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"
#include "runtime/python/src/tensor_slots.h"

namespace mindtorch::python {

namespace {

// A method without arguments, made of a function of a tensor that gives a new reference.
template <auto function>
PyObject* plain(PyObject* self, PyObject*) {
  return guarded([&] { return function(unwrap(self)); });
}

PyObject* dim(const Tensor& tensor) { return PyLong_FromLongLong(tensor.dim()); }
PyObject* numel(const Tensor& tensor) { return PyLong_FromLongLong(tensor.numel()); }
PyObject* element_size(const Tensor& tensor) { return PyLong_FromSize_t(tensor.element_size()); }
PyObject* data_ptr(const Tensor& tensor) { return PyLong_FromVoidPtr(tensor.data_ptr()); }
PyObject* storage_offset(const Tensor& tensor) { return PyLong_FromLongLong(tensor.storage_offset()); }
PyObject* is_floating_point(const Tensor& tensor) { return PyBool_FromLong(tensor.is_floating_point()); }
PyObject* is_complex(const Tensor&) { Py_RETURN_FALSE; }
PyObject* is_view(const Tensor& tensor) { return PyBool_FromLong(tensor.is_view()); }
PyObject* item(const Tensor& tensor) { return to_number(item_of(tensor)); }
PyObject* retain_grad(const Tensor& tensor) {
  tensor.retain_grad();
  Py_RETURN_NONE;
}

// size() and stride(): all, or those of one dimension.
template <auto all, auto one>
PyObject* geometry(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    const Py_ssize_t given = count + (keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0);
    if (given == 0 || args[0] == Py_None) return all(unwrap(self));
    std::int64_t d;
    if (given != 1 || !to_integer(args[0], d)) throw_error<TypeMismatch>("Tensor.size", "argument 'dim' (position 1) must be int");
    return PyLong_FromLongLong(one(unwrap(self), d));
  });
}
PyObject* sizes(const Tensor& tensor) { return wrap_size(tensor.sizes()); }
std::int64_t size_of(const Tensor& tensor, std::int64_t d) { return tensor.size(d); }
PyObject* strides(const Tensor& tensor) {
  PyObject* tuple = checked(PyTuple_New(tensor.dim()));
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    PyTuple_SET_ITEM(tuple, d, PyLong_FromLongLong(tensor.strides()[static_cast<std::size_t>(d)]));
  return tuple;
}
std::int64_t stride_of(const Tensor& tensor, std::int64_t d) { return tensor.stride(d); }

PyObject* is_contiguous(PyObject* self, PyObject*, PyObject*) { return PyBool_FromLong(unwrap(self).is_contiguous()); }

PyObject* requires_grad_(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"requires_grad", nullptr};
    int on = 1;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "|p:requires_grad_", const_cast<char**>(names), &on) == 0) throw nb::python_error();
    unwrap(self).requires_grad_(on != 0);
    return Py_NewRef(self);
  });
}

// No longer a result of anything, in place.
PyObject* detach_(PyObject* self, PyObject*) {
  return guarded([&] {
    detach_in_place(unwrap(self));
    return Py_NewRef(self);
  });
}

// Arguments of to(): to(dtype), to(device), to(device, dtype), to(other), each with non_blocking and copy, by position or by name.
struct Conversion {
  std::optional<Device> device;
  std::optional<ScalarType> type;
  bool flags[2] = {false, false};  // non_blocking, copy
  int flags_given = 0;

  Conversion(PyObject* args, PyObject* keywords) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) take_positional(PyTuple_GET_ITEM(args, i));
    PyObject *name = nullptr, *object = nullptr;
    for (Py_ssize_t at = 0; keywords != nullptr && PyDict_Next(keywords, &at, &name, &object) != 0;) take_named(text_of(name), object);
  }

  Tensor apply(const Tensor& tensor) const {
    const ReleasedGil released(!tensor.is_cpu() || (device && !device->is_cpu()));
    if (!device) return tensor.to(type.value_or(tensor.dtype()), flags[1]);
    return tensor.to(*device, type.value_or(tensor.dtype()), flags[1], flags[0]);
  }

 private:
  // What to convert to: a dtype, a device or both, from a tensor.
  bool take_target(PyObject* object) {
    if (object == Py_None) return true;
    if (is_tensor(object)) {
      device = unwrap(object).device();
      type = unwrap(object).dtype();
      return true;
    }
    if (const std::optional<ScalarType> given = as_dtype(object)) {
      type = given;
      return true;
    }
    if (const std::optional<Device> given = as_device(object)) {
      device = given;
      return true;
    }
    return false;
  }

  void take_positional(PyObject* object) {
    if (PyBool_Check(object) && flags_given < 2)
      flags[flags_given++] = object == Py_True;
    else if (!take_target(object))
      throw_error<TypeMismatch>("Tensor.to", "expected a dtype, a device or a Tensor, got {}", type_name(object));
  }

  void take_named(std::string_view name, PyObject* object) {
    if (name == "memory_format") return;
    if (name == "non_blocking" || name == "copy")
      flags[name == "copy" ? 1 : 0] = PyObject_IsTrue(object) == 1;
    else if (name != "dtype" && name != "device" && name != "other")
      throw_error<TypeMismatch>("Tensor.to", "to() got an unexpected keyword argument '{}'", name);
    else if (!take_target(object))
      throw_error<TypeMismatch>("Tensor.to", "argument '{}' cannot be {}", name, type_name(object));
  }
};

PyObject* to(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] { return wrap(Conversion(args, keywords).apply(unwrap(self))); });
}

template <class F>
PyCFunction as_function(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"dim", plain<dim>, METH_NOARGS, "Number of dimensions."},
    {"ndimension", plain<dim>, METH_NOARGS, "Number of dimensions."},
    {"numel", plain<numel>, METH_NOARGS, "Number of elements."},
    {"nelement", plain<numel>, METH_NOARGS, "Number of elements."},
    {"element_size", plain<element_size>, METH_NOARGS, "Bytes of an element."},
    {"data_ptr", plain<data_ptr>, METH_NOARGS, "Address of the first element."},
    {"storage_offset", plain<storage_offset>, METH_NOARGS, "Elements before the first one in the memory."},
    {"is_floating_point", plain<is_floating_point>, METH_NOARGS, nullptr},
    {"is_complex", plain<is_complex>, METH_NOARGS, nullptr},
    {"_is_view", plain<is_view>, METH_NOARGS, nullptr},
    {"item", plain<item>, METH_NOARGS, "The only element as a number. Waits for its device."},
    {"tolist", plain<to_list>, METH_NOARGS, "Nested lists of numbers. Waits for its device."},
    {"retain_grad", plain<retain_grad>, METH_NOARGS, "Keeps the gradient of a tensor that is not a leaf."},
    {"size", as_function(geometry<sizes, size_of>), METH_FASTCALL | METH_KEYWORDS, "Sizes, or that of one dimension."},
    {"stride", as_function(geometry<strides, stride_of>), METH_FASTCALL | METH_KEYWORDS, "Strides, or that of one dimension."},
    {"is_contiguous", as_function(is_contiguous), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"requires_grad_", as_function(requires_grad_), METH_VARARGS | METH_KEYWORDS, "Switches gradients on or off."},
    {"detach_", detach_, METH_NOARGS, "Forgets how the tensor was made, in place."},
    {"to", as_function(to), METH_VARARGS | METH_KEYWORDS, "The tensor as another type or on another device; itself if nothing changes."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_method_slots(std::vector<PyType_Slot>& slots) { slots.push_back({Py_tp_methods, methods}); }

}  // namespace mindtorch::python
