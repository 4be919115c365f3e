// The slot through which the interpreter calls an object is replaced in a class and its subclasses. Attributes, hooks and code stay as they
// are, so that a compiler which reads them (Dynamo) sees the program that it would see without a profile.
#include "python/src/capture/call_slot.h"

#include <nanobind/nanobind.h>

#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// An object that was called in this session.
struct Callee {
  nb::object reference;  // weak: an address may be given to another object when the first is gone
  trace::NameId name;
  trace::NameId path;
};

// Everything is guarded by the GIL, and never destroyed: threads may call objects while the interpreter ends.
struct Recorded {
  ternaryfunc original = nullptr;  // the slot of the class; null while nothing is replaced
  nb::object describe;             // callable from an object to its name, its path, and whether paths of other objects may have changed
  std::vector<nb::object> types;   // whose slot was replaced
  std::unordered_map<PyObject*, Callee> callees;
};
Recorded& recorded() {
  static Recorded& it = *new Recorded;
  return it;
}

PyObject* referent(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  if (PyWeakref_GetRef(reference, &object) == 1) Py_DECREF(object);  // its caller holds it
  return object;
#else
  return PyWeakref_GetObject(reference);
#endif
}

// Null if it cannot be described, which does not end the call.
const Callee* callee_of(PyObject* self) {
  auto& callees = recorded().callees;
  if (const auto known = callees.find(self); known != callees.end() && referent(known->second.reference.ptr()) == self) [[likely]]
    return &known->second;
  try {
    const nb::object described = recorded().describe(nb::handle(self));
    const nb::object name = described[0], path = described[1];
    Callee callee{nb::steal(PyWeakref_NewRef(self, nullptr)), name_id(name.ptr()), name_id(path.ptr())};
    if (!callee.reference.is_valid()) nb::raise_python_error();
    if (nb::cast<bool>(described[2])) callees.clear();
    return &callees.insert_or_assign(self, std::move(callee)).first->second;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a call that is recorded");
  } catch (const std::bad_alloc&) {
    // The call is not shown.
  }
  return nullptr;
}

PyObject* recorded_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const ternaryfunc original = recorded().original != nullptr ? recorded().original : Py_TYPE(self)->tp_call;
  if (!record::wants(record::kModules)) return original(self, arguments, keywords);
  const Callee* const callee = callee_of(self);
  if (callee == nullptr) return original(self, arguments, keywords);
  static const record::NameId key = record::intern("Module Hierarchy");
  record::NamedScope scope(callee->name, record::EventKind::kModule);
  record::add_attribute(scope.slot(), key, record::name_text(callee->path));
  return original(self, arguments, keywords);
}

// Classes that call their objects in a way of their own keep it.
void replace_slot(nb::handle type) {
  auto* const it = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (it->tp_call == recorded().original) {
    it->tp_call = recorded_call;
    recorded().types.push_back(nb::borrow(type));
  }
  for (const nb::handle subclass : nb::list(nb::handle(reinterpret_cast<PyObject*>(&PyType_Type)).attr("__subclasses__")(type)))
    if (reinterpret_cast<PyTypeObject*>(subclass.ptr())->tp_call != recorded_call) replace_slot(subclass);
}

void stop() {
  for (const nb::object& type : recorded().types) {
    auto* const it = reinterpret_cast<PyTypeObject*>(type.ptr());
    if (it->tp_call == recorded_call) it->tp_call = recorded().original;
  }
  const auto types = std::exchange(recorded().types, {});
  const auto callees = std::exchange(recorded().callees, {});
  const nb::object describe = std::move(recorded().describe);
}

void start(nb::type_object type, nb::callable describe) {
  stop();
  recorded().original = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_call;
  recorded().describe = describe;
  replace_slot(type);
}

}  // namespace

void add_call_slot(PyObject* module) {
  nb::module_ it = nb::borrow<nb::module_>(module);
  it.def("_record_calls_of", &start, nb::arg("type"), nb::arg("describe"),
         "Records the calls of all objects of `type`, whose names and paths `describe` tells, in sessions that want modules.");
  it.def("_stop_recording_calls", &stop, "Ends what _record_calls_of() began.");
}

}  // namespace mindtorch::python
