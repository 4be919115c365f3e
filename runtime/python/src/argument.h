// One parameter of an op in Python: its name, the objects that it accepts, and their conversion to a Value. Needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "mindtorch/runtime/dispatch/schema.h"

namespace mindtorch::python {

namespace nb = nanobind;

class Parameter {
 public:
  // `position` is that in the schema: the first tensor is called "input" by functions, whatever the schema says.
  Parameter(const SchemaArgument& argument, std::size_t position);

  // Names in calls are usually interned like ours, so the first comparison is nearly always enough; the second compares characters.
  bool is_named(PyObject* name) const { return name == interned_ || (name == other_name_ && name != nullptr); }
  bool is_spelled(PyObject* name) const;
  const std::string& name() const { return name_; }
  bool keyword_only() const { return keyword_only_; }
  bool has_default() const { return has_default_; }
  const Value& default_value() const { return default_; }
  bool is_int_list() const { return type_.list && type_.base == SchemaType::Base::kInt; }

  // False, without a Python error, if the object is of a kind that this parameter does not take. Throws if it is of the right kind but
  // cannot be used (a device that does not exist, an integer that is too large).
  bool convert(PyObject* object, Value& value) const;

  // "Tensor input", "Number alpha = 1": as torch's messages write it.
  std::string str() const;
  // "tuple of ints": what torch's messages call the type.
  std::string type_str() const;

 private:
  bool convert_list(PyObject* object, Value& value) const;

  std::string name_;
  PyObject* interned_;              // the name
  PyObject* other_name_ = nullptr;  // "axis" for "dim", "self" for "input"; interned too
  SchemaType type_;
  std::string default_text_;
  Value default_;
  bool keyword_only_, has_default_;
};

// The name of an object's type as messages write it.
std::string_view type_name(PyObject* object);

// Conversions that other bindings share. False, without a Python error, if the object is something else.
bool to_integer(PyObject* object, std::int64_t& value);
bool to_real(PyObject* object, double& value);
bool to_boolean(PyObject* object, bool& value);
bool to_scalar(PyObject* object, Scalar& value);                        // int, float, bool; a tensor of one number
bool to_integers(PyObject* object, std::vector<std::int64_t>& values);  // a list or tuple, or one integer
// A list or tuple; None is an undefined tensor where it is allowed.
bool to_tensors(PyObject* object, TensorVector& tensors, bool allows_none = false);

}  // namespace mindtorch::python
