// Tensors from nested sequences, and nested lists from tensors.
#include "runtime/python/src/tensor_data.h"

#include "mindtorch/runtime/functions.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

// NumPy's arrays and numbers, and what else shares its memory; texts of bytes are no data.
bool has_buffer(PyObject* object) { return PyObject_CheckBuffer(object) != 0 && !PyBytes_Check(object) && !PyByteArray_Check(object); }
bool is_array(PyObject* object) { return has_buffer(object) && PySequence_Check(object) != 0; }

// The sizes that the first elements suggest; the others are checked when they are read.
DimVector sizes_of(PyObject* data) {
  DimVector sizes;
  while (is_list(data)) {
    const Py_ssize_t length = PySequence_Fast_GET_SIZE(data);
    sizes.push_back(length);
    if (sizes.size() > kMaxDims) throw_error<InvalidArgument>("torch.tensor", "too many dimensions");
    if (length == 0) return sizes;
    data = PySequence_Fast_GET_ITEM(data, 0);
  }
  if (is_tensor(data) || is_array(data)) {
    const Tensor inner = is_tensor(data) ? unwrap(data) : tensor_from_buffer(data);
    for (const std::int64_t size : inner.sizes()) sizes.push_back(size);
  }
  return sizes;
}

struct Reader {
  std::vector<Scalar> numbers;
  bool has_real = false, has_integer = false;

  void add(PyObject* object) {
    Scalar& number = numbers.emplace_back();
    if (!to_scalar(object, number))
      throw_error<TypeMismatch>("torch.tensor", "must be a number or a sequence of numbers, got {}", type_name(object));
    has_real = has_real || number.is_floating_point();
    has_integer = has_integer || number.is_integral();
  }

  // A tensor or array inside a list.
  void add_elements(const Tensor& tensor, IntArrayRef sizes) {
    if (tensor.sizes() != sizes)
      throw_error<InvalidArgument>("torch.tensor", "expected elements of sizes {}, got {}", to_string(sizes), to_string(tensor.sizes()));
    const nb::object flat = nb::steal(checked(to_list(tensor.detach().reshape({-1}))));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(flat.ptr()); ++i) add(PyList_GET_ITEM(flat.ptr(), i));
  }

  void read(PyObject* data, IntArrayRef sizes, int dim = 0) {
    if (is_tensor(data)) return add_elements(unwrap(data), sizes);
    if (!is_list(data) && is_array(data)) return add_elements(tensor_from_buffer(data), sizes);
    if (sizes.empty()) return add(data);
    if (!is_list(data)) throw_error<TypeMismatch>("torch.tensor", "expected a sequence of length {}, got {}", sizes[0], type_name(data));
    const Py_ssize_t length = PySequence_Fast_GET_SIZE(data);
    if (length != sizes[0])
      throw_error<InvalidArgument>("torch.tensor", "expected sequence of length {} at dim {} (got {})", sizes[0], dim, length);
    for (Py_ssize_t i = 0; i < length; ++i) {
      if (PySequence_Fast_GET_SIZE(data) != length) throw_error("torch.tensor", "the data changed while it was read");
      read(PySequence_Fast_GET_ITEM(data, i), {sizes.data() + 1, sizes.size() - 1}, dim + 1);
    }
  }

  ScalarType natural_type() const {
    if (numbers.empty() || has_real) return get_default_dtype();
    return has_integer ? kInt64 : kBool;
  }
};

Tensor tensor_from_lists(PyObject* data, std::optional<ScalarType> dtype) {
  const DimVector sizes = sizes_of(data);
  Reader reader;
  reader.read(data, sizes);
  const Tensor result = empty(sizes, {.dtype = dtype.value_or(reader.natural_type())});
  visit_types(result.dtype(), [&]<class T>() {
    T* to = result.data_ptr<T>();
    for (const Scalar& number : reader.numbers) *to++ = number.to<T>();
  });
  return result;
}

PyObject* list_of(const Tensor& tensor, const char* data, std::int64_t dim) {
  if (dim == tensor.dim()) {
    return visit_types(tensor.dtype(), [&]<class T>() -> PyObject* {
      const T value = *reinterpret_cast<const T*>(data);
      if constexpr (std::is_same_v<T, bool>)
        return PyBool_FromLong(value);
      else if constexpr (std::is_floating_point_v<T>)
        return PyFloat_FromDouble(static_cast<double>(value));
      else
        return PyLong_FromLongLong(value);
    });
  }
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t step = tensor.strides()[d] * static_cast<std::int64_t>(tensor.element_size());
  PyObject* list = checked(PyList_New(tensor.sizes()[d]));
  for (std::int64_t i = 0; i < tensor.sizes()[d]; ++i) PyList_SET_ITEM(list, i, checked(list_of(tensor, data + i * step, dim + 1)));
  return list;
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device) {
  Tensor made;
  if (is_tensor(data))
    made = unwrap(data).detach().clone();
  else if (!is_list(data) && has_buffer(data))
    made = tensor_from_buffer(data).clone();
  else
    return tensor_from_lists(data, dtype).to(device.value_or(Device()));
  return made.to(device.value_or(made.device()), dtype.value_or(made.dtype()));
}

Tensor legacy_tensor(PyObject* args) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count == 1 && !PyLong_Check(PyTuple_GET_ITEM(args, 0))) {
    PyObject* only = PyTuple_GET_ITEM(args, 0);
    if (is_tensor(only)) return unwrap(only).detach();
    return tensor_from_data(only, get_default_dtype(), std::nullopt);
  }
  std::vector<std::int64_t> sizes;
  if (count == 0) sizes = {0};
  if (count != 0 && !to_integers(args, sizes)) throw_error<TypeMismatch>("torch.Tensor", "new(): expected sizes or a sequence");
  return mindtorch::empty(sizes);
}

Scalar item_of(const Tensor& tensor) {
  const ReleasedGil released(!tensor.is_cpu());
  return tensor.item();
}

Tensor on_host(const Tensor& tensor) {
  const ReleasedGil released(!tensor.is_cpu());
  return tensor.detach().to(Device());
}

PyObject* to_list(const Tensor& tensor) {
  const Tensor host = on_host(tensor);
  return list_of(host, static_cast<const char*>(host.data_ptr()), 0);
}

PyObject* to_number(const Scalar& scalar) {
  if (scalar.is_floating_point()) return PyFloat_FromDouble(scalar.to_double());
  return scalar.is_boolean() ? PyBool_FromLong(scalar.to_bool()) : PyLong_FromLongLong(scalar.to_int());
}

}  // namespace mindtorch::python
