// From Python objects to Values.
#include "runtime/python/src/argument.h"

#include "mindtorch/base/error.h"
#include "mindtorch/runtime/dispatch/boxing.h"
#include "python/src/text.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/generator.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

using Base = SchemaType::Base;

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

bool is_sequence(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

// NumPy's scalars, and others that can be seen as a number.
bool is_number_like(PyObject* object) {
  const PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
  return number != nullptr && (number->nb_float != nullptr || number->nb_index != nullptr) && !is_tensor(object) &&
         PySequence_Check(object) == 0;
}

bool is_numpy_bool(PyObject* object) {
  const std::string_view name = Py_TYPE(object)->tp_name;
  return name == "numpy.bool" || name == "numpy.bool_";
}

}  // namespace

std::string_view type_name(PyObject* object) {
  std::string_view name = Py_TYPE(object)->tp_name;
  constexpr std::string_view kOwn = "mindtorch_v2.";
  if (name.starts_with(kOwn)) name.remove_prefix(kOwn.size());
  return name;
}

bool to_integer(PyObject* object, std::int64_t& value) {
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  nb::object index;
  if (!PyLong_Check(object)) {
    if (is_tensor(object) && (unwrap(object).numel() != 1 || !is_integral(unwrap(object).dtype()))) return false;
    if (PyIndex_Check(object) == 0) return false;
    index = nb::steal(PyNumber_Index(object));
    if (!index.is_valid()) {
      PyErr_Clear();
      return false;
    }
    object = index.ptr();
  }
  value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return true;
}

bool to_real(PyObject* object, double& value) {
  if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyBool_Check(object)) return false;
  if (is_tensor(object)) {
    const Tensor& tensor = unwrap(object);
    if (tensor.dim() != 0 || tensor.requires_grad()) return false;
    value = item_of(tensor).to_double();
    return true;
  }
  if (!PyLong_Check(object) && !is_number_like(object)) return false;
  value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return true;
}

bool to_boolean(PyObject* object, bool& value) {
  if (!PyBool_Check(object) && !is_numpy_bool(object)) return false;
  value = PyObject_IsTrue(object) == 1;
  return true;
}

bool to_scalar(PyObject* object, Scalar& value) {
  if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (bool boolean; to_boolean(object, boolean)) {
    value = boolean;
    return true;
  }
  if (is_tensor(object)) {
    const Tensor& tensor = unwrap(object);
    if (tensor.dim() != 0 || tensor.requires_grad()) return false;
    value = item_of(tensor);
    return true;
  }
  if (std::int64_t integer; to_integer(object, integer)) {
    value = integer;
    return true;
  }
  if (double real; to_real(object, real)) {
    value = real;
    return true;
  }
  return false;
}

bool to_integers(PyObject* object, std::vector<std::int64_t>& values) {
  values.clear();
  if (std::int64_t one; !is_sequence(object)) {
    if (!to_integer(object, one)) return false;
    values.push_back(one);
    return true;
  }
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
  values.resize(static_cast<std::size_t>(size));
  // An item's __index__ may change the list.
  for (Py_ssize_t i = 0; i < size; ++i)
    if (i >= PySequence_Fast_GET_SIZE(object) || !to_integer(PySequence_Fast_GET_ITEM(object, i), values[static_cast<std::size_t>(i)]))
      return false;
  return true;
}

bool to_tensors(PyObject* object, TensorVector& tensors, bool allows_none) {
  if (!is_sequence(object)) return false;
  tensors.clear();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    const bool is_none = allows_none && item == Py_None;
    if (!is_none && !is_tensor(item)) return false;
    tensors.push_back(is_none ? Tensor() : unwrap(item));
  }
  return true;
}

Parameter::Parameter(const SchemaArgument& argument, std::size_t position)
    : name_(argument.name),
      type_(argument.type),
      default_text_(argument.default_text),
      default_(argument.default_value),
      keyword_only_(argument.keyword_only),
      has_default_(argument.has_default) {
  if (position == 0 && name_ == "self") {
    name_ = "input";
    other_name_ = interned("self");
  }
  constexpr std::pair<std::string_view, const char*> kOtherNames[] = {
      {"dim", "axis"}, {"dims", "axis"}, {"keepdim", "keepdims"}, {"size", "shape"}, {"shape", "size"}};
  for (const auto& [name, other] : kOtherNames)
    if (name_ == name) other_name_ = interned(other);
  interned_ = interned(name_.c_str());
}

bool Parameter::is_spelled(PyObject* name) const {
  return PyUnicode_Compare(name, interned_) == 0 || (other_name_ != nullptr && PyUnicode_Compare(name, other_name_) == 0);
}

bool Parameter::convert_list(PyObject* object, Value& value) const {
  if (type_.base == Base::kTensor) return to_tensors(object, value.emplace<TensorVector>(), type_.optional_elements);
  if (type_.base == Base::kBoolean) {
    if (!is_sequence(object)) return false;
    auto& flags = value.emplace<std::vector<std::int64_t>>();
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      bool flag;
      if (!to_boolean(PySequence_Fast_GET_ITEM(object, i), flag)) return false;
      flags.push_back(flag ? 1 : 0);
    }
    return true;
  }
  return to_integers(object, value.emplace<std::vector<std::int64_t>>());
}

bool Parameter::convert(PyObject* object, Value& value) const {
  if (object == Py_None) {
    value = std::monostate();
    return type_.optional;
  }
  if (type_.list) return convert_list(object, value);
  switch (type_.base) {
    case Base::kTensor:
      if (!is_tensor(object)) return false;
      value = unwrap(object);
      return true;
    case Base::kScalar: {
      Scalar scalar;
      if (!to_scalar(object, scalar)) return false;
      value = boxed(scalar);
      return true;
    }
    case Base::kInt: return to_integer(object, value.emplace<std::int64_t>());
    case Base::kFloat: return to_real(object, value.emplace<double>());
    case Base::kBoolean: return to_boolean(object, value.emplace<bool>());
    case Base::kString: {
      if (!PyUnicode_Check(object)) return false;
      value = text_of(object);
      return true;
    }
    case Base::kScalarType: {
      const std::optional<ScalarType> type = as_dtype(object);
      if (type) value = static_cast<std::int64_t>(*type);
      return type.has_value();
    }
    case Base::kDevice: {
      const std::optional<Device> device = as_device(object);
      if (device) value = *device;
      return device.has_value();
    }
    case Base::kLayout:
    case Base::kMemoryFormat: return to_integer(object, value.emplace<std::int64_t>());
    case Base::kGenerator: {
      Generator* generator = as_generator(object);
      if (generator != nullptr) value = generator;
      return generator != nullptr;
    }
  }
  return false;
}

std::string Parameter::type_str() const {
  if (type_.list)
    return type_.base == Base::kTensor ? "tuple of Tensors" : type_.base == Base::kBoolean ? "tuple of bools" : "tuple of ints";
  switch (type_.base) {
    case Base::kScalar: return "Number";
    case Base::kScalarType: return "torch.dtype";
    case Base::kDevice: return "torch.device";
    case Base::kLayout: return "torch.layout";
    case Base::kMemoryFormat: return "torch.memory_format";
    case Base::kGenerator: return "torch.Generator";
    default: return SchemaType{type_.base}.str();
  }
}

std::string Parameter::str() const {
  std::string text = type_str() + " " + name_;
  if (has_default_) text += " = " + default_text_;
  return text;
}

}  // namespace mindtorch::python
