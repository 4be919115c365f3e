// Reads and fills the dictionaries that nanobind gives to objects of types with nb::dynamic_attr.
#include "python/src/profiler/added_attributes.h"

#include <algorithm>
#include <string_view>

#include "python/src/text.h"

namespace mindtorch::python {
namespace {

void show_to_collector(PyObject* self) {
  if (PyObject_GC_IsTracked(self) == 0) PyObject_GC_Track(self);
}

bool is_among(std::string_view name, AttributeNames names) {
  for (; *names != nullptr; ++names)
    if (name == *names) return true;
  return false;
}

}  // namespace

PyObject* get_dict(PyObject* self, void* names) {
  PyObject* const dict = PyObject_GenericGetDict(self, nullptr);
  if (dict == nullptr) return nullptr;
  for (auto name = static_cast<AttributeNames>(names); *name != nullptr; ++name) {
    PyObject* const value = PyObject_GetAttrString(self, *name);
    const bool is_set = value != nullptr && PyDict_SetItemString(dict, *name, value) == 0;
    Py_XDECREF(value);
    if (is_set) continue;
    Py_DECREF(dict);
    return nullptr;
  }
  return dict;
}

nanobind::dict added_attributes(nanobind::handle self, AttributeNames names) {
  nanobind::dict added;
  PyObject** const dict = _PyObject_GetDictPtr(self.ptr());
  if (dict == nullptr || *dict == nullptr) return added;
  for (const auto [name, value] : nanobind::borrow<nanobind::dict>(*dict))
    if (!is_among(str_of(name), names)) added[name] = value;
  return added;
}

nanobind::object hidden_from_collector(nanobind::object made) {
  PyObject_GC_UnTrack(made.ptr());
  return made;
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  const int status = PyObject_GenericSetAttr(self, name, value);
  if (status == 0) show_to_collector(self);
  return status;
}

PyObject* get_dict_and_show(PyObject* self, void* names) {
  PyObject* const dict = get_dict(self, names);
  if (dict != nullptr) show_to_collector(self);
  return dict;
}

PyObject* get_torchs_class(PyObject* self, void* name) {
  PyObject* const modules = PyImport_GetModuleDict();  // borrowed
  PyObject* const module = PyDict_GetItemString(modules, "torch.autograd.profiler_util");
  PyObject* found = nullptr;
  // The module's dictionary, because the module itself gives our class to some who ask while torch.profiler is taken over.
  if (module != nullptr && PyModule_Check(module)) found = PyDict_GetItemString(PyModule_GetDict(module), static_cast<const char*>(name));
  if (found == nullptr || !PyType_Check(found)) found = reinterpret_cast<PyObject*>(Py_TYPE(self));
  return Py_NewRef(found);
}

}  // namespace mindtorch::python
