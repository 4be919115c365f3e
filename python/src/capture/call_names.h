// The names of called functions, as torch writes them: "train.py(12): step", "<built-in method len>".
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/record/names.h"

namespace mindtorch::python {

// Every call needs the GIL, which is also its lock. Keeps the functions that it has named alive until clear().
class CallNames {
 public:
  // The name of a call of this code; 0 if the code is of this package, whose calls are not shown.
  trace::NameId of_code(PyCodeObject* code) noexcept;
  // The name of a call of a function written in C; 0 if it is of this package. A method has one name for all objects of a type, which
  // contains the first object that was seen.
  trace::NameId of_c_function(PyObject* function) noexcept;
  // The same for a method of a type (`list.append`) that is called with `self`.
  trace::NameId of_method(PyObject* method, PyObject* self) noexcept;
  // Reads sys.path and the place of this package, for the names that are made from now on. Throws nb::python_error.
  void session_begins();
  // Forgets all functions. May run finalizers.
  void clear() noexcept;

 private:
  struct PairHash {
    std::size_t operator()(const std::pair<const void*, const void*>& key) const noexcept {
      return (reinterpret_cast<std::uintptr_t>(key.first) >> 4) * 0x9E3779B97F4A7C15u ^ reinterpret_cast<std::uintptr_t>(key.second);
    }
  };

  trace::NameId make_name(PyCodeObject* code);

  std::unordered_map<PyCodeObject*, trace::NameId> codes_;  // owned
  std::unordered_map<std::pair<const void*, const void*>, trace::NameId, PairHash> c_functions_;
  std::vector<PyObject*> kept_;        // functions whose addresses are keys; owned
  std::vector<std::string> prefixes_;  // folders of sys.path, longest first; each ends in a separator
  std::string hidden_folder_;
};

}  // namespace mindtorch::python
