// _RecordFunctionFast: torch's scope for generated code. It stands for an op, so it has arguments; it is made once and entered often.
#include "python/src/capture/record_function_fast.h"

#include <new>
#include <string>

#include "mindtorch/base/text.h"
#include "mindtorch/record/hooks.h"
#include "python/src/capture/argument_words.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

struct FastScope {
  PyObject_HEAD PyObject* name;  // a str
  PyObject* inputs;              // a tuple or None
  PyObject* keywords;            // a dict or None
  record::NamedScope scope;
};

FastScope* as_scope(PyObject* self) { return reinterpret_cast<FastScope*>(self); }

// torch: the keyword scope="user_scope" makes it an annotation.
record::EventKind kind_of(PyObject* keywords) {
  if (keywords == Py_None) return record::EventKind::kOp;
  PyObject* const scope = PyDict_GetItemString(keywords, "scope");
  const bool is_user = scope != nullptr && PyUnicode_Check(scope) && PyUnicode_CompareWithASCIIString(scope, "user_scope") == 0;
  return is_user ? record::EventKind::kScope : record::EventKind::kOp;
}

// ["a","b"], or an empty text if something in the list is not a str.
std::string json_of_texts(PyObject* list) {
  std::string json = "[";
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* const item = PyList_GET_ITEM(list, i);
    if (!PyUnicode_Check(item)) return "";
    json += i > 0 ? ",\"" : "\"";
    append_json_escaped(json, record::name_text(name_id(item)));
    json += '"';
  }
  return json + "]";
}

void add_keyword(record::Slot* slot, PyObject* key, PyObject* value) {
  if (!PyUnicode_Check(key)) return;
  const record::NameId id = name_id(key);
  if (PyBool_Check(value))
    record::add_json_attribute(slot, id, value == Py_True ? "true" : "false");
  else if (PyLong_Check(value))
    record::add_attribute(slot, id, static_cast<std::int64_t>(PyLong_AsLongLong(value)));
  else if (PyFloat_Check(value))
    record::add_attribute(slot, id, PyFloat_AS_DOUBLE(value));
  else if (PyUnicode_Check(value))
    record::add_attribute(slot, id, record::name_text(name_id(value)));
  else if (const std::string json = PyList_Check(value) ? json_of_texts(value) : ""; json.size() > 2)
    record::add_json_attribute(slot, id, json);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();  // an integer too large: left out
}

void open(FastScope* self) {
  if (!record::wants(record::kShapes)) {
    self->scope = record::NamedScope(name_id(self->name), kind_of(self->keywords));
    return;
  }
  const ArgumentWords arguments(self->inputs, Py_None);
  self->scope = record::NamedScope(name_id(self->name), kind_of(self->keywords));
  arguments.write(self->scope.slot());
  // Keyword values belong to ops; torch does not show them with annotations.
  if (self->keywords == Py_None || !self->scope.recording() || kind_of(self->keywords) != record::EventKind::kOp) return;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(self->keywords, &at, &key, &value) != 0;) add_keyword(self->scope.slot(), key, value);
}

PyObject* enter(PyObject* self, PyObject*) {
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
  as_scope(self)->scope.close();
  Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "input_values", "keyword_values", nullptr};
  PyObject *name = nullptr, *inputs = Py_None, *keyword_values = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "U|OO:_RecordFunctionFast", const_cast<char**>(names), &name, &inputs,
                                  &keyword_values) == 0)
    return nullptr;
  if (keyword_values != Py_None && !PyDict_Check(keyword_values)) {
    PyErr_Format(PyExc_TypeError, "_RecordFunctionFast: keyword_values must be a dict or None, got %s", Py_TYPE(keyword_values)->tp_name);
    return nullptr;
  }
  PyObject* const inputs_tuple = inputs == Py_None ? Py_NewRef(inputs) : PySequence_Tuple(inputs);
  if (inputs_tuple == nullptr) return nullptr;
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) {
    Py_DECREF(inputs_tuple);
    return nullptr;
  }
  as_scope(self)->name = Py_NewRef(name);
  as_scope(self)->inputs = inputs_tuple;
  as_scope(self)->keywords = Py_NewRef(keyword_values);
  new (&as_scope(self)->scope) record::NamedScope;
  return self;
}

// Inputs are held, and may hold this in turn.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_scope(self)->inputs);
  Py_VISIT(as_scope(self)->keywords);
  return 0;
}
int clear(PyObject* self) {
  Py_XSETREF(as_scope(self)->inputs, Py_NewRef(Py_None));
  Py_XSETREF(as_scope(self)->keywords, Py_NewRef(Py_None));
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  as_scope(self)->scope.~NamedScope();
  Py_XDECREF(as_scope(self)->name);
  Py_XDECREF(as_scope(self)->inputs);
  Py_XDECREF(as_scope(self)->keywords);
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

}  // namespace

void add_record_function_fast(PyObject* module) { add_type(module, fast_scope_type); }

}  // namespace mindtorch::python
