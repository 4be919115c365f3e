// mindtorch_v2.dtype.
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/python_error.h"

namespace mindtorch::python {

namespace {

struct DtypeObject {
  PyObject base;
  ScalarType type;
};

PyTypeObject* the_type = nullptr;

struct Member {
  ScalarType type;
  const char* alias;  // the name after C's type, or null
  PyObject* object;
};
Member all[] = {{kUint8, nullptr, nullptr},   {kInt32, "int", nullptr},      {kInt64, "long", nullptr},
                {kFloat32, "float", nullptr}, {kFloat64, "double", nullptr}, {kBool, nullptr, nullptr}};

ScalarType type_of(PyObject* self) { return reinterpret_cast<DtypeObject*>(self)->type; }

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", dtype_name(type_of(self)).data()); }

PyObject* get_is_floating_point(PyObject* self, void*) { return PyBool_FromLong(is_floating_point(type_of(self))); }
PyObject* get_is_complex(PyObject*, void*) { Py_RETURN_FALSE; }
PyObject* get_is_signed(PyObject* self, void*) { return PyBool_FromLong(type_of(self) != kUint8 && type_of(self) != kBool); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(element_size(type_of(self))); }

// Pickled and copied by name: there is one object for each.
PyObject* reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(dtype_name(type_of(self)).data()); }

PyGetSetDef properties[] = {{"is_floating_point", get_is_floating_point, nullptr, nullptr, nullptr},
                            {"is_complex", get_is_complex, nullptr, nullptr, nullptr},
                            {"is_signed", get_is_signed, nullptr, nullptr, nullptr},
                            {"itemsize", get_itemsize, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(repr)}, {Py_tp_getset, properties}, {Py_tp_methods, methods}, {0, nullptr}};
PyType_Spec spec = {"mindtorch_v2.dtype", sizeof(DtypeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

void bind_dtype(nb::module_& module) {
  the_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  module.attr("dtype") = nb::borrow(reinterpret_cast<PyObject*>(the_type));
  nb::dict names;
  for (Member& member : all) {
    member.object = checked(the_type->tp_alloc(the_type, 0));
    reinterpret_cast<DtypeObject*>(member.object)->type = member.type;
    names[dtype_name(member.type).data()] = nb::borrow(member.object);
    if (member.alias != nullptr) names[member.alias] = nb::borrow(member.object);
  }
  module.attr("dtypes") = names;
}

PyObject* wrap(ScalarType type) {
  for (const Member& member : all)
    if (member.type == type) return Py_NewRef(member.object);
  Py_UNREACHABLE();
}

std::optional<ScalarType> as_dtype(PyObject* object) {
  if (Py_TYPE(object) == the_type) return type_of(object);
  // Python's own types name the widest of their kind, as in torch.
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kFloat64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kInt64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  return std::nullopt;
}

}  // namespace mindtorch::python
