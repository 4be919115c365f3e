// Names are made once for each function of a session.
#include "python/src/capture/call_names.h"

#include <fmt/core.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "python/src/text.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Of an object or a module of this package.
bool is_ours(PyObject* self) {
  constexpr std::string_view kPackage = "mindtorch_v2";
  if (self == nullptr) return false;
  const char* const name = PyModule_Check(self) ? PyModule_GetName(self) : Py_TYPE(self)->tp_name;
  if (name == nullptr) PyErr_Clear();
  return name != nullptr && std::string_view(name).starts_with(kPackage);
}

std::string with_separator(std::string folder) {
  if (!folder.ends_with('/')) folder += '/';
  return folder;
}

}  // namespace

trace::NameId CallNames::name_new_code(PyCodeObject* code) noexcept {
  try {
    const trace::NameId name = make_name(code);
    codes_.make_room();
    kept_.push_back(reinterpret_cast<PyObject*>(code));
    Py_INCREF(code);
    codes_.enter(code, name);
    return name;
  } catch (const std::bad_alloc&) {
    return 0;  // the call is not shown
  }
}

trace::NameId CallNames::make_name(PyCodeObject* code) {
  const std::string path = text_of(code->co_filename);
  if (path.starts_with(hidden_folder_)) return 0;
  std::string_view shown = path;
  for (const std::string& prefix : prefixes_) {
    if (!shown.starts_with(prefix)) continue;
    shown.remove_prefix(prefix.size());
    break;
  }
  const std::string function = text_of(code->co_name);
  // The call of the module, which is an event of its own, stands for this function: so it does in torch's traces.
  if (function == "_wrapped_call_impl" && shown == "torch/nn/modules/module.py") return 0;
  return record::intern_cached(fmt::format("{}({}): {}", shown, code->co_firstlineno, function));
}

trace::NameId CallNames::name_new_c_function(PyObject* function) noexcept {
  // The definition of a method lives as long as its type or module does.
  const bool is_method = PyCFunction_Check(function) != 0;
  PyObject* const self = is_method ? PyCFunction_GET_SELF(function) : nullptr;
  PyObject* const owner = is_method ? (self != nullptr ? reinterpret_cast<PyObject*>(Py_TYPE(self)) : Py_None) : function;
  try {
    const trace::NameId name = is_ours(self) ? 0 : record::intern_cached(repr_of(function));
    if (c_functions_.find(key_of(function)) != nullptr) return name;  // repr() has called it
    c_functions_.make_room();
    kept_.push_back(owner);
    Py_INCREF(owner);
    c_functions_.enter(key_of(function), name);
    return name;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

trace::NameId CallNames::name_new_method(PyObject* method, PyObject* self) noexcept {
  const nb::object bound = nb::steal(Py_TYPE(method)->tp_descr_get(method, self, reinterpret_cast<PyObject*>(Py_TYPE(self))));
  if (bound.is_valid()) return of_c_function(bound.ptr());
  PyErr_Clear();  // it was called without an object of its type
  return of_c_function(method);
}

void CallNames::session_begins() {
  hidden_folder_ = with_separator(nb::cast<std::string>(nb::module_::import_("mindtorch_v2").attr("__path__")[0]));
  prefixes_.clear();
  for (const nb::handle folder : nb::module_::import_("sys").attr("path"))
    if (nb::isinstance<nb::str>(folder) && nb::len(folder) > 0) prefixes_.push_back(with_separator(text_of(folder.ptr())));
  std::ranges::sort(prefixes_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

void CallNames::clear() noexcept {
  // Emptied first: a finalizer may call functions.
  const auto kept = std::exchange(kept_, {});
  codes_.clear();
  c_functions_.clear();
  for (PyObject* object : kept) Py_DECREF(object);
}

}  // namespace mindtorch::python
