// Hooks for dispatchers written in Python: an op call of theirs becomes an event, from enter to exit.
#include <atomic>
#include <new>

#include "mindtorch/record/hooks.h"
#include "python/src/capture/argument_words.h"
#include "python/src/capture/foreign_tensor.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

// What dispatch_op_enter() gives while a profile records: the open event. Dropping it ends the event too, so that a dispatcher which
// forgets dispatch_op_exit() on the way of an exception does no harm.
struct Token {
  PyObject_HEAD record::NamedScope scope;
};

extern PyTypeObject token_type;

PyObject* make_token(record::NamedScope scope) {
  auto* token = PyObject_New(Token, &token_type);
  if (token == nullptr) return nullptr;
  new (&token->scope) record::NamedScope(std::move(scope));
  return reinterpret_cast<PyObject*>(token);
}

void destroy_token(PyObject* self) {
  reinterpret_cast<Token*>(self)->scope.~NamedScope();
  PyObject_Free(self);
}

// --- dispatch_op_enter(name, device=None, args=(), kwargs=None) ---

// An op call that begins now. Where its tensors live is added to the slot, which is this thread's alone until the session ends.
record::NamedScope open_op(record::NameId name, record::OpDevice where) {
  record::NamedScope scope(name, record::EventKind::kOp);
  if (record::Slot* const slot = scope.slot(); slot != nullptr && where.flags != 0) {
    std::atomic_ref(slot->device.type).store(where.device.type, std::memory_order_relaxed);
    std::atomic_ref(slot->device.index).store(where.device.index, std::memory_order_relaxed);
    std::atomic_ref(slot->flags).store(where.flags, std::memory_order_relaxed);
  }
  return scope;
}

struct EnterArguments {
  PyObject* name = nullptr;
  PyObject* device = Py_None;
  PyObject* args = Py_None;
  PyObject* kwargs = Py_None;
};

PyObject* dispatch_op_enter(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  EnterArguments asked;
  const Parameter parameters[] = {{"name", &asked.name}, {"device", &asked.device}, {"args", &asked.args}, {"kwargs", &asked.kwargs}};
  if (!take_arguments("dispatch_op_enter", parameters, values, count, keyword_names)) return nullptr;
  if (!PyUnicode_Check(asked.name)) {
    PyErr_Format(PyExc_TypeError, "dispatch_op_enter(): name must be a str, got %s", Py_TYPE(asked.name)->tp_name);
    return nullptr;
  }
  const std::uint64_t state = record::current_state();
  if (state == 0) Py_RETURN_NONE;
  const record::NameId name = name_id(asked.name);
  const record::OpDevice device = look_at_device(asked.device);
  if ((state & record::kShapes) == 0) [[likely]]
    return make_token(open_op(name, device));
  try {
    const ArgumentWords arguments(asked.args, asked.kwargs);
    record::NamedScope scope = open_op(name, device);
    if (scope.wants(record::kShapes)) arguments.write(scope.slot());
    return make_token(std::move(scope));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* dispatch_op_exit(PyObject*, PyObject* token) {
  if (token == Py_None) Py_RETURN_NONE;
  if (Py_TYPE(token) != &token_type) {
    PyErr_Format(PyExc_TypeError, "dispatch_op_exit(): expected what dispatch_op_enter() gave, got %s", Py_TYPE(token)->tp_name);
    return nullptr;
  }
  reinterpret_cast<Token*>(token)->scope.close();
  Py_RETURN_NONE;
}

PyObject* is_profiler_enabled(PyObject*, PyObject*) { return PyBool_FromLong(record::current_state() != 0 ? 1 : 0); }

PyMethodDef functions[] = {
    {"is_profiler_enabled", is_profiler_enabled, METH_NOARGS,
     "is_profiler_enabled()\n--\n\nTrue while a profile records: an op call that asks first pays for nothing else."},
    method("dispatch_op_enter", dispatch_op_enter,
           "dispatch_op_enter(name, device=None, args=(), kwargs=None)\n--\n\n"
           "An op call of a foreign framework begins. Returns a token for dispatch_op_exit(), None while nothing records.\n\n"
           "`device` is where its tensors live: \"npu\", \"cuda:1\", or an object with `type` and `index`. Arguments are looked at only if "
           "the\n"
           "profile records shapes; a tensor is anything with `shape`, lists of them included."),
    {"dispatch_op_exit", dispatch_op_exit, METH_O,
     "dispatch_op_exit(token, /)\n--\n\nThe op call of this token ends; call it in a `finally` clause. Does nothing the second time."},
    {},
};

PyTypeObject make_token_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "mindtorch_v2.profiler.DispatchToken";
  type.tp_doc = "An op call that has begun: see dispatch_op_enter().";
  type.tp_basicsize = sizeof(Token);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_dealloc = destroy_token;
  return type;
}

PyTypeObject token_type = make_token_type();

}  // namespace

void add_dispatch_hooks(PyObject* module) {
  add_type(module, token_type);
  add_functions(module, functions);
}

}  // namespace mindtorch::python
