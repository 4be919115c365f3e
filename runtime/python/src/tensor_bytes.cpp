// Elements of tensors as bytes, and the file that save() writes them to.
#include <nanobind/stl/vector.h>

#include <cstring>

#include "mindtorch/base/file.h"
#include "mindtorch/runtime/functions.h"
#include "python/src/gil.h"
#include "python/src/text.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

nb::bytes bytes_of(const Tensor& tensor) {
  const Tensor host = on_host(tensor).contiguous();
  return nb::bytes(host.data_ptr(), host.nbytes());
}

Tensor tensor_of_bytes(nb::bytes data, nb::handle dtype, const std::vector<std::int64_t>& sizes) {
  const std::optional<ScalarType> type = as_dtype(dtype.ptr());
  if (!type) throw_error<TypeMismatch>("tensor_of_bytes", "expected a dtype, got {}", type_name(dtype.ptr()));
  const Tensor tensor = empty(sizes, {.dtype = *type});
  if (tensor.nbytes() != data.size())
    throw_error<InvalidArgument>("tensor_of_bytes", "{} bytes do not make a tensor of {} and sizes {}", data.size(), dtype_name(*type),
                                 to_string(sizes));
  std::memcpy(tensor.data_ptr(), data.c_str(), data.size());
  return tensor;
}

}  // namespace

void bind_tensor_data(nb::module_& module) {
  nb::class_<AtomicFile>(module, "AtomicFile", "A file that appears whole at commit(), or not at all.")
      .def(nb::init<std::string>(), nb::arg("path"))
      .def("fileno", &AtomicFile::fd, "What is written to this descriptor is the content of the file.")
      .def("commit", &AtomicFile::commit, nb::call_guard<ReleasedGil>());
  module.def("bytes_of", bytes_of, nb::arg("tensor"));
  module.def("tensor_of_bytes", tensor_of_bytes, nb::arg("data"), nb::arg("dtype"), nb::arg("sizes"));
}

}  // namespace mindtorch::python
