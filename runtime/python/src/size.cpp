// mindtorch_v2.Size: the tuple that a tensor's shape is.
#include "mindtorch/runtime/tensor_impl.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/python_error.h"

namespace mindtorch::python {

namespace {

PyTypeObject* the_type = nullptr;

// A Size whose entries are not yet set, or null and an error.
PyObject* make_size(Py_ssize_t length) {
  PyObject* const self = the_type->tp_alloc(the_type, length);
#if PY_VERSION_HEX >= 0x030E0000
  if (self != nullptr) reinterpret_cast<PyTupleObject*>(self)->ob_hash = -1;  // tuples keep their hash; it is not known yet
#endif
  return self;
}

// Takes a tuple and gives the same as a Size.
PyObject* as_size(PyObject* tuple) {
  if (tuple == nullptr || !PyTuple_CheckExact(tuple)) return tuple;
  const Py_ssize_t length = PyTuple_GET_SIZE(tuple);
  PyObject* self = make_size(length);
  if (self != nullptr)
    for (Py_ssize_t i = 0; i < length; ++i) PyTuple_SET_ITEM(self, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return self;
}

PyObject* repr(PyObject* self) {
  return guarded([&] {
    const nb::object list = nb::steal(checked(PySequence_List(self)));
    return checked(PyUnicode_FromFormat("torch.Size(%R)", list.ptr()));
  });
}
PyObject* subscript(PyObject* self, PyObject* key) { return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, key)); }
PyObject* concatenate(PyObject* self, PyObject* other) { return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other)); }

PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&] {
    DimVector sizes;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) sizes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(self, i)));
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return PyLong_FromLongLong(checked_numel(sizes));
  });
}

PyMethodDef methods[] = {{"numel", numel, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                       {Py_sq_concat, reinterpret_cast<void*>(concatenate)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"mindtorch_v2.Size", 0, 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

void bind_size(nb::module_& module) {
  const nb::object bases = nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(&PyTuple_Type)));
  the_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.ptr())));
  module.attr("Size") = nb::borrow(reinterpret_cast<PyObject*>(the_type));
}

PyObject* wrap_size(IntArrayRef sizes) {
  PyObject* self = make_size(static_cast<Py_ssize_t>(sizes.size()));
  if (self == nullptr) return nullptr;
  for (std::size_t i = 0; i < sizes.size(); ++i) PyTuple_SET_ITEM(self, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
  return self;
}

}  // namespace mindtorch::python
