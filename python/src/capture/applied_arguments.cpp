// What torch's profiler takes, and in which form, is torch::jit::tryToInferPrimitiveType(): numbers, None, and containers of them.
#include <algorithm>
#include <cstdint>
#include <string>

#include "python/src/capture/argument_words.h"
#include "python/src/capture/parts.h"
#include "python/src/gil.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;
using Kind = trace::Input::Kind;

// Longer lists are left out by torch. Deeper ones, which may contain themselves, are left out here.
constexpr Py_ssize_t kLongestList = 30;
constexpr int kDeepest = 16;

struct Places {
  nb::dict variables;  // by code
  PyTypeObject* tensor = nullptr;
};

Places& places() {
  static Places& it = *new Places;  // never destroyed: functions may be applied while the interpreter ends
  return it;
}

std::string type_of(PyObject* value, int depth = 0);

// The type of a list of both; None and another type are an optional one.
std::string unified(const std::string& one, const std::string& other) {
  if (one == other || other == "none") return one;
  return one == "none" ? other : std::string();
}

// One type for all elements of a list, or for the keys or values of a dictionary. Torch refuses empty ones.
std::string element_type(PyObject* sequence, int depth) {
  std::string type;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    const std::string next = type_of(PySequence_Fast_GET_ITEM(sequence, i), depth);
    type = i == 0 ? next : unified(type, next);
    if (type.empty() || next.empty()) return {};
  }
  return type;
}

std::string tuple_type(PyObject* tuple, int depth) {
  std::string type = "(";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    const std::string next = type_of(PyTuple_GET_ITEM(tuple, i), depth);
    if (next.empty()) return {};
    type += next + ",";
  }
  return type + ")";
}

std::string dict_type(PyObject* dict, int depth) {
  const nb::object keys = nb::steal(PyDict_Keys(dict)), values = nb::steal(PyDict_Values(dict));
  const std::string key = element_type(keys.ptr(), depth), value = element_type(values.ptr(), depth);
  return key.empty() || value.empty() ? std::string() : "{" + key + ":" + value + "}";
}

// Empty if torch has none for it.
std::string type_of(PyObject* value, int depth) {
  if (value == Py_None) return "none";
  if (PyBool_Check(value)) return "bool";
  if (PyLong_Check(value)) return "int";
  if (PyFloat_Check(value)) return "float";
  if (PyComplex_CheckExact(value)) return "complex";
  if (depth == kDeepest) return {};
  if (PyTuple_Check(value)) return tuple_type(value, depth + 1);
  if (PyDict_Check(value)) return dict_type(value, depth + 1);
  if (!PyList_Check(value)) return {};
  const std::string element = element_type(value, depth + 1);
  return element.empty() ? element : "[" + element + "]";
}

void add(ArgumentWords& words, PyObject* value) {
  if (PyObject_TypeCheck(value, places().tensor)) return words.add_kind(Kind::kTensor);
  const std::string type = type_of(value);
  if (type.empty()) return;
  const bool is_container = PyTuple_Check(value) || PyDict_Check(value) || PyComplex_CheckExact(value);
  if (is_container || (PyList_Check(value) && PyList_GET_SIZE(value) > kLongestList)) return words.add_kind(Kind::kOther);
  words.add(value);
}

// The tuple that the innermost Python function applies a function to; null if it applies none.
nb::object applied() {
  const nb::object frame = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  if (!frame.is_valid()) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  PyObject* const variable = PyDict_GetItem(places().variables.ptr(), code.ptr());
  if (variable == nullptr) return {};
  nb::object arguments = nb::steal(PyObject_GetItem(frame.attr("f_locals").ptr(), variable));
  if (!arguments.is_valid()) PyErr_Clear();
  return arguments;
}

std::size_t write_applied_arguments(std::int64_t* out, std::size_t capacity) {
  if (!holds_gil() || !places().variables.is_valid()) return 0;
  try {
    const nb::object arguments = applied();
    if (!arguments.is_valid() || !PyTuple_Check(arguments.ptr())) return 0;
    ArgumentWords words;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments.ptr()); ++i) add(words, PyTuple_GET_ITEM(arguments.ptr(), i));
    if (words.words().size() > capacity) return 0;
    std::ranges::copy(words.words(), out);
    return words.words().size();
  } catch (...) {
    PyErr_Clear();
    return 0;  // the tensors alone are recorded
  }
}

}  // namespace

void bind_applied_arguments(nb::module_& module) {
  module.def("_applied_arguments", [](nb::dict variables, nb::type_object tensor) {
    places() = {std::move(variables), reinterpret_cast<PyTypeObject*>(tensor.release().ptr())};
    return reinterpret_cast<std::uintptr_t>(&write_applied_arguments);
  });
}

}  // namespace mindtorch::python
