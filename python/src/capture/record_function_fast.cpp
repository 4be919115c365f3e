// _RecordFunctionFast: torch's scope for generated code. It stands for an op, so it has arguments; it is made once and entered often.
#include <new>
#include <string>
#include <utility>

#include "mindtorch/base/text.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/record/hooks.h"
#include "python/src/capture/argument_words.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

struct FastScope {
  PyObject_HEAD PyObject* name;  // a str
  PyObject* inputs;              // a tuple
  PyObject* keywords;            // a dict or None
  PyObject* torchs;              // torch's own object, while it is entered instead of this one; else null
  record::NamedScope scope;
  bool is_users;   // an annotation, whatever the keywords say
  bool stands_in;  // made where the program called torch's class
};

// Calls of torch's class, while they make ours. What is here stays after a session, because objects outlive it.
struct TorchsClass {
  PyTypeObject* type = nullptr;
  newfunc make = nullptr;          // its own constructor
  PyObject* is_enabled = nullptr;  // says whether torch's own profiler runs on this thread
};
TorchsClass torchs_class;

FastScope* as_scope(PyObject* self) { return reinterpret_cast<FastScope*>(self); }

// torch: the keyword scope="user_scope" makes it an annotation.
record::EventKind kind_of(const FastScope* self) {
  if (self->is_users) return record::EventKind::kScope;
  if (self->keywords == Py_None) return record::EventKind::kOp;
  PyObject* const scope = PyDict_GetItemString(self->keywords, "scope");
  const bool is_user = scope != nullptr && PyUnicode_Check(scope) && PyUnicode_CompareWithASCIIString(scope, "user_scope") == 0;
  return is_user ? record::EventKind::kScope : record::EventKind::kOp;
}

// torch keeps lists and tuples of values of one kind. Lists may contain themselves, so the depth has an end.
constexpr int kDeepestList = 8;

// Appends None, a bool, a number, a text, or a list or tuple of these; false, and a part of it may be there, if it is anything else.
bool append_json(std::string& json, PyObject* value, int depth = 0) {
  if (value == Py_None || PyBool_Check(value)) {
    json += value == Py_None ? "null" : value == Py_True ? "true" : "false";
  } else if (PyLong_Check(value)) {
    int overflow = 0;
    json += std::to_string(PyLong_AsLongLongAndOverflow(value, &overflow));
    return overflow == 0;
  } else if (PyFloat_Check(value)) {
    exporter::append_json_double(json, PyFloat_AS_DOUBLE(value));
  } else if (PyUnicode_Check(value)) {
    json += json_quoted(record::name_text(name_id(value)));
  } else if ((PyList_Check(value) || PyTuple_Check(value)) && depth < kDeepestList) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
      json += i > 0 ? ',' : '[';
      if (!append_json(json, PySequence_Fast_GET_ITEM(value, i), depth + 1)) return false;
    }
    json += PySequence_Fast_GET_SIZE(value) > 0 ? "]" : "[]";
  } else {
    return false;
  }
  return true;
}

void add_keyword(record::Slot* slot, PyObject* key, PyObject* value) {
  if (!PyUnicode_Check(key)) return;
  const record::NameId id = name_id(key);
  if (PyFloat_Check(value)) return record::add_attribute(slot, id, PyFloat_AS_DOUBLE(value));
  if (PyUnicode_Check(value)) return record::add_attribute(slot, id, record::name_text(name_id(value)));
  constexpr std::string_view kNotKept = "NULL";  // torch's word for other values
  std::string json;
  if (!append_json(json, value)) return record::add_attribute(slot, id, kNotKept);
  if (PyLong_CheckExact(value)) return record::add_attribute(slot, id, static_cast<std::int64_t>(PyLong_AsLongLong(value)));
  record::add_json_attribute(slot, id, json);
}

void open(FastScope* self) {
  if (!record::wants(record::kShapes)) {
    self->scope = record::NamedScope(name_id(self->name), kind_of(self));
    return;
  }
  const ArgumentWords arguments(self->inputs, Py_None);
  self->scope = record::NamedScope(name_id(self->name), kind_of(self));
  if (arguments.words().front() > 0) arguments.write(self->scope.slot());
  if (self->keywords == Py_None || !self->scope.recording()) return;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(self->keywords, &at, &key, &value) != 0;) add_keyword(self->scope.slot(), key, value);
}

// --- torch's own object instead of this one ---

// 1: torch's profiler runs on this thread; 0: it does not; -1: an exception.
int is_torchs_turn(const FastScope* self) {
  if (!self->stands_in) return 0;
  PyObject* const answer = PyObject_CallNoArgs(torchs_class.is_enabled);
  const int is_enabled = answer == nullptr ? -1 : PyObject_IsTrue(answer);
  Py_XDECREF(answer);
  return is_enabled;
}

PyObject* made_by_torch(const FastScope* self) {
  PyObject* const arguments =
      self->keywords == Py_None ? PyTuple_Pack(2, self->name, self->inputs) : PyTuple_Pack(3, self->name, self->inputs, self->keywords);
  PyObject* object = arguments == nullptr ? nullptr : torchs_class.make(torchs_class.type, arguments, nullptr);
  if (object != nullptr && torchs_class.type->tp_init(object, arguments, nullptr) < 0) Py_CLEAR(object);
  Py_XDECREF(arguments);
  return object;
}

PyObject* enter_torchs(FastScope* self) {
  PyObject* const object = made_by_torch(self);
  PyObject* const result = object == nullptr ? nullptr : PyObject_CallMethod(object, "__enter__", nullptr);
  if (result != nullptr) Py_XSETREF(self->torchs, Py_NewRef(object));
  Py_XDECREF(object);
  return result;
}

PyObject* exit_torchs(FastScope* self) {
  PyObject* const object = std::exchange(self->torchs, nullptr);
  PyObject* const result = PyObject_CallMethod(object, "__exit__", "OOO", Py_None, Py_None, Py_None);
  Py_DECREF(object);
  return result;
}

// --- The protocol of `with` ---

PyObject* enter(PyObject* self, PyObject*) {
  if (const int is_torchs = is_torchs_turn(as_scope(self)); is_torchs != 0) return is_torchs < 0 ? nullptr : enter_torchs(as_scope(self));
  if (record::current_state() != 0) [[unlikely]] {
    try {
      open(as_scope(self));
    } catch (const std::bad_alloc&) {
      return PyErr_NoMemory();
    }
  }
  Py_RETURN_NONE;
}

PyObject* exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (as_scope(self)->torchs != nullptr) return exit_torchs(as_scope(self));
  as_scope(self)->scope.close();
  Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "input_values", "keyword_values", "_is_users", nullptr};
  int is_users = 0;
  PyObject *name = nullptr, *inputs = Py_None, *keyword_values = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "U|OO$p:_RecordFunctionFast", const_cast<char**>(names), &name, &inputs,
                                  &keyword_values, &is_users) == 0)
    return nullptr;
  if (keyword_values != Py_None && !PyDict_Check(keyword_values)) {
    PyErr_Format(PyExc_TypeError, "_RecordFunctionFast: keyword_values must be a dict or None, got %s", Py_TYPE(keyword_values)->tp_name);
    return nullptr;
  }
  PyObject* const inputs_tuple = inputs == Py_None ? PyTuple_New(0) : PySequence_Tuple(inputs);
  if (inputs_tuple == nullptr) return nullptr;
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) {
    Py_DECREF(inputs_tuple);
    return nullptr;
  }
  as_scope(self)->name = Py_NewRef(name);
  as_scope(self)->inputs = inputs_tuple;
  as_scope(self)->keywords = Py_NewRef(keyword_values);
  as_scope(self)->is_users = is_users != 0;
  new (&as_scope(self)->scope) record::NamedScope;
  return self;
}

// Inputs are held, and may hold this in turn.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_scope(self)->inputs);
  Py_VISIT(as_scope(self)->keywords);
  Py_VISIT(as_scope(self)->torchs);
  return 0;
}
int clear(PyObject* self) {
  Py_XSETREF(as_scope(self)->inputs, Py_NewRef(Py_None));
  Py_XSETREF(as_scope(self)->keywords, Py_NewRef(Py_None));
  Py_CLEAR(as_scope(self)->torchs);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  as_scope(self)->scope.~NamedScope();
  Py_XDECREF(as_scope(self)->name);
  Py_XDECREF(as_scope(self)->inputs);
  Py_XDECREF(as_scope(self)->keywords);
  Py_XDECREF(as_scope(self)->torchs);
  Py_TYPE(self)->tp_free(self);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "__enter__($self, /)\n--\n\nOpens the event."},
    method("__exit__", exit, "__exit__($self, exc_type, exc_value, traceback, /)\n--\n\nCloses the event; an exception goes on."),
    {},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "mindtorch_v2._C._RecordFunctionFast";
  type.tp_doc =
      "_RecordFunctionFast(name, input_values=None, keyword_values=None)\n--\n\n"
      "An op that generated code runs. Values are shown with its events if the profile records shapes.";
  type.tp_basicsize = sizeof(FastScope);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  type.tp_new = make;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_dealloc = destroy;
  type.tp_methods = methods;
  return type;
}

PyTypeObject fast_scope_type = make_type();

// --- Calls of torch's class ---

PyObject* make_stand_in(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  PyObject* const self = make(&fast_scope_type, arguments, keywords);
  if (self != nullptr) as_scope(self)->stands_in = true;
  return self;
}

// The constructor is replaced rather than the attribute of torch's module, because programs bind the class to names of their own. It can be
// replaced only in a class that is written in C and that Python cannot change: calls of other classes do not always ask for it.
PyObject* stand_in_for(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyType_Check(arguments[0]) || !PyCallable_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "_stand_in_for() takes a class and a callable");
    return nullptr;
  }
  auto* const type = reinterpret_cast<PyTypeObject*>(arguments[0]);
  if (type->tp_new == make_stand_in || PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) != 0) Py_RETURN_NONE;
  torchs_class.type = type;
  torchs_class.make = std::exchange(type->tp_new, make_stand_in);
  Py_XSETREF(torchs_class.is_enabled, Py_NewRef(arguments[1]));
  Py_RETURN_NONE;
}

PyObject* stop_standing_in(PyObject*, PyObject*) {
  if (torchs_class.type != nullptr) torchs_class.type->tp_new = torchs_class.make;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    method("_stand_in_for", stand_in_for,
           "_stand_in_for(torchs, is_enabled, /)\n--\n\nFrom now on calls of the class `torchs` make a _RecordFunctionFast of ours.\n"
           "It enters torch's own object where is_enabled() says that torch's profiler runs."),
    {"_stop_standing_in", stop_standing_in, METH_NOARGS, "_stop_standing_in()\n--\n\nCalls of torch's class make torch's objects again."},
    {},
};

}  // namespace

void add_record_function_fast(PyObject* module) {
  add_type(module, fast_scope_type);
  add_functions(module, functions);
}

}  // namespace mindtorch::python
