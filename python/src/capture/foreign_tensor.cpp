// What is asked of a foreign framework's tensors and devices.
#include "python/src/capture/foreign_tensor.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace mindtorch::python {
namespace {

namespace nb = nanobind;
using trace::ScalarType;

// The names that are asked for, as str objects that the interpreter finds by address.
struct Names {
  PyObject* shape = PyUnicode_InternFromString("shape");
  PyObject* dtype = PyUnicode_InternFromString("dtype");
  PyObject* name = PyUnicode_InternFromString("name");
  PyObject* stride = PyUnicode_InternFromString("stride");
  PyObject* strides = PyUnicode_InternFromString("strides");
  PyObject* itemsize = PyUnicode_InternFromString("itemsize");
  PyObject* type = PyUnicode_InternFromString("type");
  PyObject* index = PyUnicode_InternFromString("index");
  PyObject* object = PyUnicode_InternFromString("_cdata");
  PyObject* storage = PyUnicode_InternFromString("untyped_storage");
  PyObject* storage_offset = PyUnicode_InternFromString("storage_offset");
  PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
  PyObject* device = PyUnicode_InternFromString("device");
};
const Names& names() {
  static const Names it;
  return it;
}

// The attribute, or an invalid object: a missing attribute is an answer here.
nb::object attribute(PyObject* value, PyObject* name) {
  nb::object found = nb::steal(PyObject_GetAttr(value, name));
  if (!found.is_valid()) PyErr_Clear();
  return found;
}

std::optional<std::int64_t> as_integer(PyObject* value) {
  nb::object index = nb::steal(PyNumber_Index(value));
  const long long number = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
  if (PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  return std::nullopt;
}

bool read_integers(PyObject* sequence, std::int64_t instead, std::vector<std::int64_t>& values) {
  nb::object items = nb::steal(PySequence_Fast(sequence, ""));
  if (!items.is_valid()) {
    PyErr_Clear();
    return false;
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
  values.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) values.push_back(as_integer(PySequence_Fast_GET_ITEM(items.ptr(), i)).value_or(instead));
  return true;
}

// The result of a method without arguments, or an invalid object.
nb::object call(const nb::object& value, PyObject* method) {
  nb::object result = value.is_valid() ? nb::steal(PyObject_CallMethodNoArgs(value.ptr(), method)) : nb::object();
  if (!result.is_valid()) PyErr_Clear();
  return result;
}

std::int64_t integer_or_0(const nb::object& value) { return value.is_valid() ? as_integer(value.ptr()).value_or(0) : 0; }

std::string_view text_of(const nb::object& text) {
  Py_ssize_t size = 0;
  const char* utf8 = text.is_valid() && PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return {utf8 != nullptr ? utf8 : "", static_cast<std::size_t>(size)};
}

// "torch.float32", "float32", "Float32": the last word decides.
ScalarType scalar_type_named(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, ScalarType>, 17> kNames{{{"float32", ScalarType::kFloat},
                                                                                   {"float", ScalarType::kFloat},
                                                                                   {"float64", ScalarType::kDouble},
                                                                                   {"double", ScalarType::kDouble},
                                                                                   {"float16", ScalarType::kHalf},
                                                                                   {"half", ScalarType::kHalf},
                                                                                   {"bfloat16", ScalarType::kBFloat16},
                                                                                   {"int64", ScalarType::kInt64},
                                                                                   {"long", ScalarType::kInt64},
                                                                                   {"int32", ScalarType::kInt32},
                                                                                   {"int", ScalarType::kInt32},
                                                                                   {"int16", ScalarType::kInt16},
                                                                                   {"short", ScalarType::kInt16},
                                                                                   {"int8", ScalarType::kInt8},
                                                                                   {"uint8", ScalarType::kUint8},
                                                                                   {"bool", ScalarType::kBool},
                                                                                   {"bool_", ScalarType::kBool}}};
  text.remove_prefix(text.rfind('.') + 1);
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; });
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each.first == lower; });
  return found != kNames.end() ? found->second : ScalarType::kOther;
}

ScalarType read_dtype(PyObject* dtype) {
  const ScalarType by_name = scalar_type_named(text_of(attribute(dtype, names().name)));
  if (by_name != ScalarType::kOther) return by_name;
  const nb::object text = nb::steal(PyObject_Str(dtype));
  if (!text.is_valid()) PyErr_Clear();
  return scalar_type_named(text_of(text));
}

// A framework has few dtype objects and asks for them all the time.
ScalarType scalar_type_of(PyObject* dtype) {
  struct Entry {
    PyObject* dtype = nullptr;  // owned
    ScalarType type = ScalarType::kOther;
  };
  static std::array<Entry, 64> cache;
  Entry& entry = cache[(reinterpret_cast<std::uintptr_t>(dtype) >> 4) % cache.size()];
  if (entry.dtype == dtype) return entry.type;
  const ScalarType type = read_dtype(dtype);
  Py_INCREF(dtype);
  PyObject* const old = std::exchange(entry, Entry{dtype, type}).dtype;
  Py_XDECREF(old);
  return type;
}

void read_strides(PyObject* value, std::vector<std::int64_t>& strides) {
  // Torch has stride(), NumPy strides. Asking the type first saves an exception.
  if (_PyType_Lookup(Py_TYPE(value), names().stride) != nullptr) {
    const nb::object result = nb::steal(PyObject_CallMethodNoArgs(value, names().stride));
    if (!result.is_valid()) PyErr_Clear();
    if (result.is_valid() && PySequence_Check(result.ptr()) != 0) read_integers(result.ptr(), 0, strides);
    return;
  }
  const nb::object in_bytes = attribute(value, names().strides);
  if (!in_bytes.is_valid() || PySequence_Check(in_bytes.ptr()) == 0) return;
  read_integers(in_bytes.ptr(), 0, strides);
  const nb::object item_size = attribute(value, names().itemsize);
  const std::int64_t bytes = item_size.is_valid() ? as_integer(item_size.ptr()).value_or(1) : 1;
  if (bytes > 1)
    for (std::int64_t& stride : strides) stride /= bytes;
}

bool is_contiguous(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

record::OpDevice device_named(std::string_view type, std::int64_t index) {
  using trace::DeviceType;
  static constexpr std::array<std::pair<std::string_view, DeviceType>, 6> kTypes{{{"cpu", DeviceType::kCpu},
                                                                                  {"npu", DeviceType::kNpu},
                                                                                  {"privateuseone", DeviceType::kNpu},
                                                                                  {"cuda", DeviceType::kCuda},
                                                                                  {"gpu", DeviceType::kCuda},
                                                                                  {"ascend", DeviceType::kNpu}}};
  for (const auto& [name, number] : kTypes)
    if (type == name) return record::known({number, static_cast<std::uint8_t>(std::clamp<std::int64_t>(index, 0, 255))});
  return {};
}

}  // namespace

bool look_at_tensor(PyObject* value, ForeignTensor& tensor) {
  if (PyType_Check(value)) return false;
  const nb::object shape = attribute(value, names().shape);
  if (!shape.is_valid() || PySequence_Check(shape.ptr()) == 0 || !read_integers(shape.ptr(), -1, tensor.sizes)) return false;
  const nb::object dtype = attribute(value, names().dtype);
  if (dtype.is_valid()) tensor.dtype = scalar_type_of(dtype.ptr());
  if (!tensor.sizes.empty()) read_strides(value, tensor.strides);
  if (tensor.strides.size() != tensor.sizes.size() || is_contiguous(tensor.sizes, tensor.strides)) tensor.strides.clear();
  return true;
}

trace::TensorIdentity identity_of(PyObject* value) {
  const std::int64_t address = integer_or_0(attribute(value, names().object));
  if (address == 0) return {};
  const nb::object it = nb::borrow(value), device = attribute(value, names().device);
  return {.tensor = static_cast<std::uint64_t>(address),
          .storage = static_cast<std::uint64_t>(integer_or_0(call(call(it, names().storage), names().data_ptr))),
          .offset = integer_or_0(call(it, names().storage_offset)),
          .device = device.is_valid() ? look_at_device(device.ptr()).device : trace::Device{}};
}

record::OpDevice look_at_device(PyObject* device) {
  if (device == Py_None) return {};
  if (PyUnicode_Check(device)) {
    const std::string_view text = text_of(nb::borrow(device));
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::int64_t index = 0;
    if (colon < text.size()) std::from_chars(text.data() + colon + 1, text.data() + text.size(), index);
    return device_named(text.substr(0, colon), index);
  }
  const nb::object type = attribute(device, names().type);
  const nb::object index = attribute(device, names().index);
  return device_named(text_of(type), index.is_valid() && !index.is_none() ? as_integer(index.ptr()).value_or(0) : 0);
}

}  // namespace mindtorch::python
