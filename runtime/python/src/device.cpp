// mindtorch_v2.device.
#include "mindtorch/runtime/device.h"

#include "python/src/text.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/python_error.h"

namespace mindtorch::python {

namespace {

struct DeviceObject {
  PyObject base;
  Device device;
};

PyTypeObject* the_type = nullptr;

Device device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

std::string type_name(Device device) {
  const std::string text = device.str();
  return text.substr(0, text.find(':'));
}

// device("npu"), device("npu:1"), device("npu", 1), device(another)
Device parse(PyObject* type, PyObject* index) {
  const std::optional<Device> device = as_device(type);
  if (!device) throw nb::type_error("device(): argument 'type' (position 1) must be str or torch.device");
  if (index == nullptr || index == Py_None) return *device;
  const long number = PyLong_AsLong(index);
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (number < 0 || number > 255) throw_error("device", "Device index must be between 0 and 255, got {}", number);
  return {device->type, static_cast<std::uint8_t>(number)};
}

PyObject* make(PyTypeObject*, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"type", "index", nullptr};
    PyObject *type = nullptr, *index = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|O:device", const_cast<char**>(names), &type, &index) == 0) throw nb::python_error();
    return wrap(parse(type, index));
  });
}

PyObject* repr(PyObject* self) {
  const Device device = device_of(self);
  if (device.is_cpu()) return PyUnicode_FromString("device(type='cpu')");
  return PyUnicode_FromFormat("device(type='%s', index=%d)", type_name(device).c_str(), int{device.index});
}
PyObject* text(PyObject* self) { return PyUnicode_FromString(device_of(self).str().c_str()); }

PyObject* compare(PyObject* self, PyObject* other, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != the_type) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of(self) == device_of(other)) == (op == Py_EQ));
}
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(device_of(self).type) * 256 + device_of(self).index; }

PyObject* get_type(PyObject* self, void*) { return PyUnicode_FromString(type_name(device_of(self)).c_str()); }
PyObject* get_index(PyObject* self, void*) {
  if (device_of(self).is_cpu()) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index);
}
PyObject* reduce(PyObject* self, PyObject*) { return Py_BuildValue("O(s)", Py_TYPE(self), device_of(self).str().c_str()); }

PyGetSetDef properties[] = {{"type", get_type, nullptr, nullptr, nullptr},
                            {"index", get_index, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_str, reinterpret_cast<void*>(text)},
                       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                       {Py_tp_hash, reinterpret_cast<void*>(hash)},
                       {Py_tp_getset, properties},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"mindtorch_v2.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

void bind_device(nb::module_& module) {
  the_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  module.attr("device") = nb::borrow(reinterpret_cast<PyObject*>(the_type));
}

PyObject* wrap(Device device) {
  PyObject* self = the_type->tp_alloc(the_type, 0);
  if (self != nullptr) reinterpret_cast<DeviceObject*>(self)->device = device;
  return self;
}

std::optional<Device> as_device(PyObject* object) {
  if (Py_TYPE(object) == the_type) return device_of(object);
  if (!PyUnicode_Check(object)) return std::nullopt;
  return Device(text_of(object));
}

}  // namespace mindtorch::python
