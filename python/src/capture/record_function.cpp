// record_function: a user's scope in Python. `with record_function("x"):` costs what the interpreter needs for any `with` statement, and
// while nothing records one load and one branch more.
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "mindtorch/record/constant_name.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

// An object that is entered again before it was left keeps its outer scopes here.
struct OuterScope {
  record::NamedScope scope;
  std::unique_ptr<OuterScope> outer;
};

// What the object refers to, apart from the rest, because Python has to know where `dict` lies.
struct References {
  PyObject_HEAD PyObject* name;  // a str
  PyObject* args;                // a str or None
  PyObject* torchs;              // torch's own scope, while it takes this one's place; else null
  PyObject* dict;                // what programs have set; null until then
};

struct RecordFunction : References {
  record::NamedScope scope;
  std::unique_ptr<OuterScope> outer;
  bool ends_on_exit;
};

extern PyTypeObject record_function_type;

RecordFunction* as_record_function(PyObject* self) { return reinterpret_cast<RecordFunction*>(self); }

// --- Entering and leaving ---

void open(RecordFunction* self) noexcept {
  if (self->scope.recording()) {
    if (auto* outer = new (std::nothrow) OuterScope{std::move(self->scope), std::move(self->outer)}) self->outer.reset(outer);
  }
  self->scope = record::NamedScope(name_id(self->name));
  if (self->args == Py_None || !self->scope.recording()) return;
  static constinit record::ConstantName key("args");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(self->args, &size);
  if (text == nullptr) return PyErr_Clear();
  const std::string_view args(text, static_cast<std::size_t>(size));
  record::add_attribute(self->scope.slot(), key.id(), args);
  if (self->scope.wants(record::kShapes)) record::InputWriter(self->scope).text(args);
}

void close(RecordFunction* self) noexcept {
  self->scope.close();
  if (self->outer == nullptr) [[likely]]
    return;
  const std::unique_ptr<OuterScope> outer = std::move(self->outer);
  self->scope = std::move(outer->scope);
  self->outer = std::move(outer->outer);
}

// --- The parts that are written in Python ---

PyObject* call_python_part(const char* function, PyObject* self, PyObject* argument) {
  PyObject* module = PyImport_ImportModule("mindtorch_v2.capture.record_function");
  if (module == nullptr) return nullptr;
  PyObject* result = PyObject_CallMethod(module, function, "OO", self, argument);
  Py_DECREF(module);
  return result;
}

// --- The protocol of `with` ---

// Set by the bridge to torch: whether torch takes the scopes that this thread enters now.
using TorchsTurn = int (*)();
TorchsTurn is_torchs_turn = nullptr;

PyObject* enter_torchs(PyObject* self) {
  PyObject* scope = call_python_part("enter_torchs", self, Py_None);
  if (scope == nullptr) return nullptr;
  Py_XSETREF(as_record_function(self)->torchs, scope);
  return Py_NewRef(self);
}

PyObject* exit_torchs(RecordFunction* self) {
  PyObject* scope = std::exchange(self->torchs, nullptr);
  PyObject* result = PyObject_CallMethod(scope, "__exit__", "OOO", Py_None, Py_None, Py_None);
  Py_DECREF(scope);
  return result;
}

PyObject* enter(PyObject* self, PyObject*) {
  if (is_torchs_turn != nullptr && is_torchs_turn() != 0) [[unlikely]]
    return enter_torchs(self);
  if (record::current_state() != 0 || as_record_function(self)->scope.recording()) [[unlikely]]
    open(as_record_function(self));
  Py_INCREF(self);
  return self;
}

PyObject* exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  RecordFunction* const it = as_record_function(self);
  if (it->torchs != nullptr) [[unlikely]]
    return exit_torchs(it);
  if (it->scope.recording() && it->ends_on_exit) [[unlikely]]
    close(it);
  Py_RETURN_NONE;
}

PyObject* decorate(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* function = nullptr;
  static const char* names[] = {"func", nullptr};
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O:record_function.__call__", const_cast<char**>(names), &function) == 0)
    return nullptr;
  return call_python_part("decorate", self, function);
}

PyObject* end_on_future(PyObject* self, PyObject* future) {
  RecordFunction* const it = as_record_function(self);
  if (!it->ends_on_exit) {
    PyErr_SetString(PyExc_RuntimeError, "_call_end_callbacks_on_future can only be called once.");
    return nullptr;
  }
  PyObject* result = call_python_part("end_on_future", it->torchs != nullptr ? it->torchs : self, future);
  if (result != nullptr) it->ends_on_exit = false;
  return result;
}

PyObject* end_now(PyObject* self, PyObject*) {
  close(as_record_function(self));
  Py_RETURN_NONE;
}

PyObject* get_state(PyObject* self, PyObject*) { return call_python_part("state_of", self, Py_None); }
PyObject* set_state(PyObject* self, PyObject* state) { return call_python_part("set_state", self, state); }

// --- Making one ---

bool is_text(PyObject* value, const char* what, const char* or_none) {
  if (PyUnicode_Check(value) || (*or_none != '\0' && value == Py_None)) [[likely]]
    return true;
  PyErr_Format(PyExc_TypeError, "record_function: %s must be a str%s, got %s", what, or_none, Py_TYPE(value)->tp_name);
  return false;
}
bool is_name(PyObject* value) { return is_text(value, "name", ""); }
bool is_args(PyObject* value) { return is_text(value, "args", " or None"); }

void construct(RecordFunction* self, PyObject* name, PyObject* args) {
  Py_INCREF(name);
  Py_INCREF(args);
  self->name = name;
  self->args = args;
  new (&self->scope) record::NamedScope;
  new (&self->outer) std::unique_ptr<OuterScope>;
  self->torchs = nullptr;
  self->dict = nullptr;
  self->ends_on_exit = true;
}

PyObject* make(PyObject* name, PyObject* args) {
  if (!is_name(name) || !is_args(args)) return nullptr;
  auto* self = PyObject_New(RecordFunction, &record_function_type);
  if (self == nullptr) return nullptr;
  construct(self, name, args);
  return reinterpret_cast<PyObject*>(self);
}

// Calls of subclasses: their __init__ gives the name.
PyObject* new_empty(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  PyObject* empty = PyUnicode_New(0, 0);
  if (self != nullptr) construct(as_record_function(self), empty, Py_None);
  Py_DECREF(empty);
  return self;
}

int init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "args", nullptr};
  PyObject *name = nullptr, *args = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:record_function", const_cast<char**>(names), &name, &args) == 0) return -1;
  if (!is_name(name) || !is_args(args)) return -1;
  Py_INCREF(name);
  Py_INCREF(args);
  Py_XSETREF(as_record_function(self)->name, name);
  Py_XSETREF(as_record_function(self)->args, args);
  return 0;
}

PyObject* vectorcall(PyObject*, PyObject* const* arguments, std::size_t count, PyObject* keyword_names) {
  const Py_ssize_t positional = PyVectorcall_NARGS(count);
  if (keyword_names == nullptr && positional == 1) [[likely]]
    return make(arguments[0], Py_None);
  PyObject *name = nullptr, *args = Py_None;
  const Parameter parameters[] = {{"name", &name}, {"args", &args}};
  return take_arguments("record_function", parameters, arguments, positional, keyword_names) ? make(name, args) : nullptr;
}

// contextlib.ContextDecorator's protocol: what each call of a decorated function enters. A subclass may keep state, so it is itself.
PyObject* recreate(PyObject* self, PyObject*) {
  if (Py_TYPE(self) == &record_function_type) return make(as_record_function(self)->name, as_record_function(self)->args);
  Py_INCREF(self);
  return self;
}

// Called for objects of subclasses only. The class itself does without the garbage collector, which would make every scope slower.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_record_function(self)->dict);
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(as_record_function(self)->dict);
  return 0;
}

void destroy(PyObject* self) {
  RecordFunction* const it = as_record_function(self);
  PyTypeObject* const type = Py_TYPE(self);
  it->scope.~NamedScope();
  it->outer.~unique_ptr();
  Py_XDECREF(it->name);
  Py_XDECREF(it->args);
  Py_XDECREF(it->torchs);
  Py_XDECREF(it->dict);
  type->tp_free(self);  // the object of a subclass is taken apart by its own deallocator, which calls this one
}

// --- Attributes ---

// The two attributes that are texts share their functions; the closure is the function that checks a new value.
using Check = bool (*)(PyObject*);
Check check_of(void* closure) { return reinterpret_cast<Check>(closure); }
PyObject*& text_of(PyObject* self, void* closure) {
  return check_of(closure) == is_name ? as_record_function(self)->name : as_record_function(self)->args;
}

int refuse_deletion() {
  PyErr_SetString(PyExc_AttributeError, "record_function: its attributes cannot be deleted");
  return -1;
}

PyObject* get_text(PyObject* self, void* closure) { return Py_NewRef(text_of(self, closure)); }
int set_text(PyObject* self, PyObject* value, void* closure) {
  if (value == nullptr) return refuse_deletion();
  if (!check_of(closure)(value)) return -1;
  Py_INCREF(value);
  Py_XSETREF(text_of(self, closure), value);
  return 0;
}

PyObject* get_ends_on_exit(PyObject* self, void*) { return PyBool_FromLong(as_record_function(self)->ends_on_exit ? 1 : 0); }
int set_ends_on_exit(PyObject* self, PyObject* value, void*) {
  const int truth = value != nullptr ? PyObject_IsTrue(value) : refuse_deletion();
  if (truth >= 0) as_record_function(self)->ends_on_exit = truth != 0;
  return truth < 0 ? -1 : 0;
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("record_function(%R)", as_record_function(self)->name); }

PyGetSetDef attributes[] = {
    {"name", get_text, set_text, "The name of the events.", reinterpret_cast<void*>(is_name)},
    {"args", get_text, set_text, "Text about the call, shown with the event, or None.", reinterpret_cast<void*>(is_args)},
    {"run_callbacks_on_exit", get_ends_on_exit, set_ends_on_exit, "False once a future ends the event.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "__enter__($self, /)\n--\n\nOpens the scope."},
    method("__exit__", exit, "__exit__($self, exc_type, exc_value, traceback, /)\n--\n\nCloses the scope; an exception goes on."),
    {"_call_end_callbacks_on_future", end_on_future, METH_O,
     "_call_end_callbacks_on_future($self, fut, /)\n--\n\nThe event lasts until the future is done. Returns a future with its value."},
    {"_recreate_cm", recreate, METH_NOARGS, "_recreate_cm($self, /)\n--\n\nThe scope of one call of a decorated function."},
    {"_end", end_now, METH_NOARGS, "_end($self, /)\n--\n\nEnds the event that is open, on any thread."},
    {"__getstate__", get_state, METH_NOARGS, "__getstate__($self, /)\n--\n\nWhat copies and pickles keep. A copy is not open."},
    {"__setstate__", set_state, METH_O, "__setstate__($self, state, /)\n--\n\nMakes this a copy."},
    {},
};

constexpr const char* kDoc =
    "record_function(name, args=None)\n--\n\n"
    "Labels a block of code (as a context manager) or a function (as a decorator) in what a profile records.\n\n"
    "May be nested and entered again; an exception closes it. `args` is text about the call, shown with the event.\n"
    "A decorated generator, coroutine or asynchronous generator has one event each time it runs until it yields or waits.\n\n"
    "    with record_function(\"forward\"):\n"
    "        loss = model(batch)";

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "mindtorch_v2.profiler.record_function";
  type.tp_doc = kDoc;
  type.tp_basicsize = sizeof(RecordFunction);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = new_empty;
  type.tp_init = init;
  type.tp_vectorcall = vectorcall;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_dictoffset = offsetof(References, dict);
  type.tp_dealloc = destroy;
  type.tp_call = decorate;
  type.tp_repr = repr;
  type.tp_methods = methods;
  type.tp_getset = attributes;
  return type;
}

PyTypeObject record_function_type = make_type();

// --- What compilers ask ---

// Gives the class one more attribute, whose value may be a descriptor. Python cannot set attributes of classes that are written in C.
PyObject* set_class_attribute(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || PyDict_SetItem(record_function_type.tp_dict, arguments[0], arguments[1]) < 0) {
    if (count != 2) PyErr_SetString(PyExc_TypeError, "_set_record_function_attribute() takes a name and a value");
    return nullptr;
  }
  PyType_Modified(&record_function_type);
  Py_RETURN_NONE;
}

PyObject* set_torchs_turn(PyObject*, PyObject* address) {
  void* const function = PyLong_AsVoidPtr(address);
  if (function == nullptr && PyErr_Occurred() != nullptr) return nullptr;
  is_torchs_turn = reinterpret_cast<TorchsTurn>(function);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    method("_set_record_function_attribute", set_class_attribute,
           "_set_record_function_attribute(name, value, /)\n--\n\nAn attribute of the class record_function."),
    {"_set_torchs_turn", set_torchs_turn, METH_O,
     "_set_torchs_turn(address, /)\n--\n\nThe address of a C function that says whether torch takes the scopes that this thread enters "
     "now; 0: it never does."},
    {},
};

}  // namespace

void add_record_function(PyObject* module) {
  add_type(module, record_function_type);
  add_functions(module, functions);
}

}  // namespace mindtorch::python
