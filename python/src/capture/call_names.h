// The names of called functions, as torch writes them: "train.py(12): step", "<built-in method len>".
#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "mindtorch/record/names.h"
#include "python/src/capture/address_table.h"

namespace mindtorch::python {

// Every call needs the GIL, which is also its lock. Keeps the functions that it has named alive until clear().
class CallNames {
 public:
  // The name of a call of this code; 0 if the code is of this package, whose calls are not shown.
  trace::NameId of_code(PyCodeObject* code) noexcept {
    if (const trace::NameId* known = codes_.find(code)) [[likely]]
      return *known;
    return name_new_code(code);
  }
  // The name of a call of a function written in C; 0 if it is of this package. A method has one name for all objects of a type, which
  // contains the first object that was seen.
  trace::NameId of_c_function(PyObject* function) noexcept {
    if (const trace::NameId* known = c_functions_.find(key_of(function))) [[likely]]
      return *known;
    return name_new_c_function(function);
  }
  // The same for a method of a type (`list.append`) that is called with `self`.
  trace::NameId of_method(PyObject* method, PyObject* self) noexcept {
    if (const trace::NameId* known = c_functions_.find({definition_of(method), Py_TYPE(self)})) [[likely]]
      return *known;
    return name_new_method(method, self);
  }
  // Reads sys.path and the place of this package, for the names that are made from now on. Throws nb::python_error.
  void session_begins();
  // Forgets all functions. May run finalizers.
  void clear() noexcept;

 private:
  static const void* definition_of(PyObject* method) noexcept { return reinterpret_cast<PyMethodDescrObject*>(method)->d_method; }
  // A function is known by its definition and by the type of the object that it is a method of.
  static AddressPair key_of(PyObject* function) noexcept {
    if (PyCFunction_Check(function) == 0) return {function, nullptr};
    PyObject* const self = PyCFunction_GET_SELF(function);
    return {reinterpret_cast<PyCFunctionObject*>(function)->m_ml, self != nullptr ? Py_TYPE(self) : nullptr};
  }

  trace::NameId name_new_code(PyCodeObject* code) noexcept;
  trace::NameId name_new_c_function(PyObject* function) noexcept;
  trace::NameId name_new_method(PyObject* method, PyObject* self) noexcept;
  trace::NameId make_name(PyCodeObject* code);

  AddressTable<const PyCodeObject*, trace::NameId> codes_;
  AddressTable<AddressPair, trace::NameId> c_functions_;
  std::vector<PyObject*> kept_;        // objects whose addresses are keys; owned
  std::vector<std::string> prefixes_;  // folders of sys.path, longest first; each ends in a separator
  std::string hidden_folder_;
};

}  // namespace mindtorch::python
