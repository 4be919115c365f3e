// The slot through which the interpreter calls an object is replaced in a class and its subclasses. Attributes, hooks and code stay as they
// are, so that a compiler which reads them (Dynamo) sees the program that it would see without a profile.
#include <nanobind/nanobind.h>

#include <new>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mindtorch/record/constant_name.h"
#include "mindtorch/record/hooks.h"
#include "python/src/capture/argument_words.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// An object that was called in this session.
struct Callee {
  nb::object reference;  // weak: an address may be given to another object when the first is gone
  trace::NameId name;
  trace::NameId path;
  bool is_told = false;  // whether the session knows the tensors that it owns
};

// Everything is guarded by the GIL, and never destroyed: threads may call objects while the interpreter ends.
struct Recorded {
  ternaryfunc original = nullptr;  // the slot of the class; null while nothing is replaced
  nb::object describe;             // callable from an object to its name, its path, and whether paths of other objects may have changed
  nb::object own_tensors;          // callable from an object to a tuple of what it owns
  std::unordered_set<trace::NameId> told;  // names of objects whose tensors the session knows
  std::vector<nb::object> types;           // whose slot was replaced
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
Callee* callee_of(PyObject* self) {
  auto& callees = recorded().callees;
  if (const auto known = callees.find(self); known != callees.end() && referent(known->second.reference.ptr()) == self) [[likely]]
    return &known->second;
  try {
    const nb::object described = recorded().describe(nb::handle(self));
    const nb::object name = described[0], path = described[1];
    Callee callee{nb::steal(PyWeakref_NewRef(self, nullptr)), name_id(name.ptr()), name_id(path.ptr())};
    if (!callee.reference.is_valid()) nb::raise_python_error();
    if (nb::cast<bool>(described[2])) callees.clear();
    callee.is_told = recorded().told.contains(callee.name);
    return &callees.insert_or_assign(self, std::move(callee)).first->second;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a call that is recorded");
  } catch (const std::bad_alloc&) {
    // The call is not shown.
  }
  return nullptr;
}

// The tensors of an object, when it is called for the first time in a session.
std::optional<ArgumentWords> tensors_to_tell(PyObject* self, Callee& callee) {
  if (std::exchange(callee.is_told, true)) return std::nullopt;
  try {
    recorded().told.insert(callee.name);
    return ArgumentWords(recorded().own_tensors(nb::handle(self)).ptr(), Py_None, true);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a call that is recorded");
  } catch (const std::bad_alloc&) {
    // The call is shown without them.
  }
  return std::nullopt;
}

PyObject* recorded_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const ternaryfunc original = recorded().original != nullptr ? recorded().original : Py_TYPE(self)->tp_call;
  const std::uint64_t state = record::current_state();
  if ((state & record::kModuleCalls) == 0) return original(self, arguments, keywords);
  Callee* const callee = callee_of(self);
  if (callee == nullptr) return original(self, arguments, keywords);
  static constinit record::ConstantName key("Module Hierarchy");
  const auto [name, path] = std::pair(callee->name, callee->path);  // the callee may be gone after Python code has run
  const std::optional<ArgumentWords> tensors = tensors_to_tell(self, *callee);
  const record::NamedScope scope = record::NamedScope::module(name);
  record::add_attribute(scope.slot(), key.id(), record::name_text(path));
  if (tensors) tensors->write(scope.slot());
  return original(self, arguments, keywords);
}

// A step of an optimizer, which has just ended.
void record_optimizer_step(nb::str name, nb::tuple tensors) {
  // Sessions that record memory and stacks are told what optimizers own, which tells the purpose of memory.
  constexpr std::uint64_t kWantsOwners = record::kMemory | record::kStacks;
  if ((record::current_state() & kWantsOwners) != kWantsOwners) return;
  const ArgumentWords words(tensors.ptr(), Py_None, true);
  record::NamedScope scope(name_id(name.ptr()), record::EventKind::kPythonFunction);
  if (scope.recording()) record::add_slot_flag(*scope.slot(), trace::kTraceOnly);  // torch's call of the same name may be recorded too
  words.write(scope.slot());
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
  recorded().told.clear();
  const nb::object describe = std::move(recorded().describe), own_tensors = std::move(recorded().own_tensors);
}

void start(nb::type_object type, nb::callable describe, nb::callable own_tensors) {
  stop();
  recorded().original = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_call;
  recorded().describe = describe;
  recorded().own_tensors = own_tensors;
  replace_slot(type);
}

}  // namespace

void add_call_slot(PyObject* module) {
  nb::module_ it = nb::borrow<nb::module_>(module);
  it.def("_record_calls_of", &start, nb::arg("type"), nb::arg("describe"), nb::arg("own_tensors"),
         "Records the calls of all objects of `type`, whose names and paths `describe` tells and their tensors `own_tensors`, in sessions "
         "that want modules or stacks.");
  it.def("_record_optimizer_step", &record_optimizer_step, nb::arg("name"), nb::arg("tensors"),
         "Records a step that has just ended and the tensors of its optimizer, in sessions that want the owners of memory.");
  it.def("_stop_recording_calls", &stop, "Ends what _record_calls_of() began.");
}

}  // namespace mindtorch::python
