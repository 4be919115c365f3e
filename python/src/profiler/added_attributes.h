// `__dict__` of events and rows, whose values are read from a recording: torch's names with their present values, and what a program adds.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

// The names of attributes in `__dict__`, in its order. The last element is null.
using AttributeNames = const char* const*;

// A getter for Py_tp_getset, of a type with nb::dynamic_attr. The closure is an AttributeNames. Returns the object's own dictionary.
PyObject* get_dict(PyObject* self, void* names);
// The attributes that were added to the object: those of its dictionary that are not among `names`.
nanobind::dict added_attributes(nanobind::handle self, AttributeNames names);

// Dictionaries make objects visible to the garbage collector, which takes time for each of them. These two are for types of which there are
// many objects, most of them without a dictionary: only the others are shown to the collector.
//
// Hides a new object.
nanobind::object hidden_from_collector(nanobind::object made);
// Py_tp_setattro and the getter of `__dict__`, like get_dict(), for such a type.
int set_attribute(PyObject* self, PyObject* name, PyObject* value);
PyObject* get_dict_and_show(PyObject* self, void* names);

// A getter of `__class__` for Py_tp_getset: the class of torch.autograd.profiler_util that the closure names, if the program uses torch, so
// that isinstance() in torch's own code takes the object for one of torch's.
PyObject* get_torchs_class(PyObject* self, void* name);

}  // namespace mindtorch::python
