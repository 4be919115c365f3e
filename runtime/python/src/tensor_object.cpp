// The type Tensor: its objects' life.
#include "runtime/python/src/tensor_object.h"

#include <structmember.h>

#include <cstddef>
#include <new>
#include <vector>

#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_slots.h"

namespace mindtorch::python {

namespace {

struct TensorObject {
  PyObject base;
  Tensor tensor;
  PyObject* attributes;  // what users set: x.name = ...
  PyObject* weak_references;
};

PyTypeObject* the_type = nullptr;

TensorObject* as_object(PyObject* self) { return reinterpret_cast<TensorObject*>(self); }

PyObject* allocate(PyTypeObject* type) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) new (&as_object(self)->tensor) Tensor();
  return self;
}

void adopt(PyObject* self, const Tensor& tensor) {
  as_object(self)->tensor = tensor;
  tensor.impl()->set_foreign_object(self);
}

// Tensor(2, 3), Tensor([1., 2.]): float tensors, as torch.Tensor makes them.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    if (keywords != nullptr && PyDict_GET_SIZE(keywords) != 0) throw nb::type_error("Tensor() takes no keyword arguments");
    return wrap_as(type, legacy_tensor(args));
  });
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  TensorObject* object = as_object(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  if (object->tensor.defined() && object->tensor.impl()->foreign_object() == self) object->tensor.impl()->set_foreign_object(nullptr);
  object->tensor.~Tensor();
  Py_CLEAR(object->attributes);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_object(self)->attributes);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_object(self)->attributes);
  return 0;
}

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyTypeObject* create_tensor_type() {
  std::vector<PyType_Slot> slots = {{Py_tp_new, reinterpret_cast<void*>(make)},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                    {Py_tp_members, members}};
  add_operator_slots(slots);
  add_index_slots(slots);
  add_property_slots(slots);
  add_method_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"mindtorch_v2.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                      slots.data()};
  the_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  the_type->tp_name = "Tensor";  // as the interpreter's messages name it; __module__ and __qualname__ are set by now
  return the_type;
}

PyTypeObject* tensor_type() { return the_type; }

const Tensor& unwrap(PyObject* object) { return as_object(object)->tensor; }

PyObject* wrap_as(PyTypeObject* type, const Tensor& tensor) {
  PyObject* self = allocate(type);
  if (self != nullptr) adopt(self, tensor);
  return self;
}

PyObject* wrap(const Tensor& tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  auto* known = static_cast<PyObject*>(tensor.impl()->foreign_object());
  // An object without owners is being destroyed: its finalisers may ask for the tensor once more.
  if (known != nullptr && Py_REFCNT(known) > 0) return Py_NewRef(known);
  return wrap_as(the_type, tensor);
}

}  // namespace mindtorch::python
