// Calls of Python modules as scopes: a context manager for one call, and the host that switches the hook on and off.
#include <nanobind/nanobind.h>

#include <new>
#include <utility>

#include "mindtorch/record/constant_name.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/host.h"
#include "python/src/capture/kept_error.h"
#include "python/src/capture/name_cache.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"
#include "python/src/gil.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// --- One call ---

struct ModuleScope {
  PyObject_HEAD PyObject* name;  // a str: "nn.Module: Linear_0"
  PyObject* path;                // a str: "Net.encoder.0"
  record::NamedScope scope;
};

extern PyTypeObject module_scope_type;

ModuleScope* as_scope(PyObject* self) { return reinterpret_cast<ModuleScope*>(self); }

PyObject* make_scope(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "_module_scope() takes the name and the path of a module, both str");
    return nullptr;
  }
  auto* self = PyObject_New(ModuleScope, &module_scope_type);
  if (self == nullptr) return nullptr;
  self->name = Py_NewRef(arguments[0]);
  self->path = Py_NewRef(arguments[1]);
  new (&self->scope) record::NamedScope;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* enter(PyObject* self, PyObject*) {
  if ((record::current_state() & record::kModuleCalls) != 0) {
    static constinit record::ConstantName key("Module Hierarchy");
    ModuleScope* const it = as_scope(self);
    it->scope = record::NamedScope::module(name_id(it->name));
    record::add_attribute(it->scope.slot(), key.id(), record::name_text(name_id(it->path)));
  }
  Py_RETURN_NONE;
}

PyObject* exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  as_scope(self)->scope.close();
  Py_RETURN_NONE;
}

void destroy(PyObject* self) {
  as_scope(self)->scope.~NamedScope();
  Py_DECREF(as_scope(self)->name);
  Py_DECREF(as_scope(self)->path);
  PyObject_Free(self);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "__enter__($self, /)\n--\n\nThe call begins."},
    method("__exit__", exit, "__exit__($self, exc_type, exc_value, traceback, /)\n--\n\nThe call ends."),
    {},
};

PyMethodDef functions[] = {
    method("_module_scope", make_scope,
           "_module_scope(name, path, /)\n--\n\nA context manager for one call of the module of this name and place."),
    {},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "mindtorch_v2._C._ModuleScope";
  type.tp_doc = "One call of a module.";
  type.tp_basicsize = sizeof(ModuleScope);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_dealloc = destroy;
  type.tp_methods = methods;
  return type;
}

PyTypeObject module_scope_type = make_type();

// --- The hook ---

// Sessions may start and stop on threads with and without the GIL.
class PythonModules final : public record::Host {
 public:
  std::string_view name() const override { return "python modules"; }
  Status session_starts(std::uint32_t wants) override {
    if ((wants & record::kModuleCalls) == 0) return Status::ok();
    const Status status = call("start");
    started_ = module_ != nullptr;
    return status;
  }
  void session_stops() override {
    if (std::exchange(started_, false)) static_cast<void>(call("stop"));
  }

 private:
  Status call(const char* function) {
    const WithGil gil;
    if (!gil) return Status::unavailable("there is no Python interpreter");
    call_and_keep_error([&] {
      // Once, at a start: a stop must not need a file, which a program may be unable to open.
      if (module_ == nullptr) module_ = nb::module_::import_("mindtorch_v2.capture.modules").release().ptr();
      nb::handle(module_).attr(function)();
    });
    return Status::ok();
  }

  bool started_ = false;
  PyObject* module_ = nullptr;  // for the life of the process
};

}  // namespace

void add_module_calls(PyObject* module) {
  add_type(module, module_scope_type);
  add_functions(module, functions);
  record::register_host(new PythonModules);  // for the life of the process
}

}  // namespace mindtorch::python
