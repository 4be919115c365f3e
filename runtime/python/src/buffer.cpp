// Memory shared with NumPy and everything else that speaks Python's buffer protocol.
#include "mindtorch/runtime/functions.h"
#include "runtime/python/src/exchange.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

// The element type of a buffer's format, by struct's letters. Integers are told apart by their size.
ScalarType type_of(const Py_buffer& view) {
  const char* format = view.format != nullptr ? view.format : "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] != '\0' && format[1] == '\0') {
    const bool is_signed = std::string_view("ilq").find(format[0]) != std::string_view::npos;
    if (format[0] == '?') return kBool;
    if (format[0] == 'f') return kFloat32;
    if (format[0] == 'd') return kFloat64;
    if (format[0] == 'B') return kUint8;
    if (is_signed && view.itemsize == 4) return kInt32;
    if (is_signed && view.itemsize == 8) return kInt64;
  }
  throw_error<TypeMismatch>(
      "torch.from_numpy",
      "can't convert an array of format '{}'. The only supported types are: float64, float32, int64, int32, uint8, and bool.",
      view.format != nullptr ? view.format : "B");
}

// Lets go of the exporter's memory with the last tensor, on whatever thread that is.
struct HeldBuffer {
  Py_buffer view;
  ~HeldBuffer() {
    if (const WithGil gil; gil) PyBuffer_Release(&view);
  }
};

// Tensors know no memory that must not be written to.
void warn_if_read_only(PyObject* object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES) != 0) throw nb::python_error();
  const bool is_read_only = view.readonly != 0;
  PyBuffer_Release(&view);
  if (is_read_only && PyErr_WarnEx(PyExc_UserWarning,
                                   "The given array is not writable, and tensors of memory that must not be written to do not exist: "
                                   "writing to this tensor changes the array all the same. Copy the array to protect it.",
                                   1) != 0)
    throw nb::python_error();
}

std::string_view array_type(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8: return "|u1";
    case ScalarType::kInt32: return "<i4";
    case ScalarType::kInt64: return "<i8";
    case ScalarType::kFloat32: return "<f4";
    case ScalarType::kFloat64: return "<f8";
    case ScalarType::kBool: break;
  }
  return "|b1";
}

nb::dict array_interface(const Tensor& tensor) {
  static const char nothing = 0;  // where no elements lie: not every NumPy takes a null pointer
  const void* const data = tensor.numel() > 0 ? tensor.data_ptr() : &nothing;
  nb::list shape, strides;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    shape.append(tensor.sizes()[d]);
    strides.append(tensor.strides()[d] * static_cast<std::int64_t>(tensor.element_size()));
  }
  nb::dict result;
  result["version"] = 3;
  result["typestr"] = nb::str(array_type(tensor.dtype()).data());
  result["shape"] = nb::tuple(shape);
  result["strides"] = nb::tuple(strides);
  result["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data), false);
  return result;
}

}  // namespace

Tensor tensor_from_buffer(PyObject* object) {
  auto held = std::make_shared<HeldBuffer>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    held->view.obj = nullptr;
    throw nb::python_error();
  }
  const Py_buffer& view = held->view;
  const ScalarType type = type_of(view);
  DimVector sizes, strides;
  std::int64_t elements = 1;  // from the first to the last, whatever lies between
  for (int d = 0; d < view.ndim; ++d) {
    if (view.strides[d] < 0)
      throw_error<InvalidArgument>(
          "torch.from_numpy",
          "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
          "currently supported. (You can probably work around this by making a copy of your array with array.copy().)");
    if (view.strides[d] % view.itemsize != 0)
      throw_error<InvalidArgument>("torch.from_numpy", "given numpy array strides not a multiple of the element byte size.");
    sizes.push_back(view.shape[d]);
    strides.push_back(view.strides[d] / view.itemsize);
    if (view.shape[d] > 1) elements += (view.shape[d] - 1) * strides.back();
  }
  auto storage = Storage::wrap(view.buf, static_cast<std::size_t>(elements * view.itemsize), Device(), [held] {});
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), type, sizes, strides, 0, nullptr));
}

void bind_numpy(nb::module_& module) {
  // What NumPy makes an array of without a copy; the array keeps it, and it keeps the memory.
  struct ArraySource {
    Tensor tensor;
  };
  nb::class_<ArraySource>(module, "ArraySource").def_prop_ro("__array_interface__", [](const ArraySource& self) {
    return array_interface(self.tensor);
  });
  module.def(
      "array_source",
      [](const Tensor& tensor, bool force) {
        if (!force && !tensor.is_cpu())
          throw_error<TypeMismatch>(
              "Tensor.numpy", "can't convert {} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
              tensor.device().str());
        if (!force && tensor.requires_grad())
          throw_error("Tensor.numpy", "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
        return ArraySource{on_host(tensor)};
      },
      nb::arg("tensor"), nb::arg("force"));
  module.def(
      "from_buffer",
      [](nb::handle object) {
        warn_if_read_only(object.ptr());
        return tensor_from_buffer(object.ptr());
      },
      nb::arg("object"));
}

}  // namespace mindtorch::python
