// The Python module mindtorch_v2._runtime: the embedded runtime in Python.
#include <nanobind/stl/optional.h>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/initialize.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/autograd.h"
#include "runtime/python/src/devices.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/exchange.h"
#include "runtime/python/src/generator.h"
#include "runtime/python/src/named_scope.h"
#include "runtime/python/src/op_function.h"
#include "runtime/python/src/optimizer.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/services.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

std::optional<ScalarType> dtype_argument(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  const std::optional<ScalarType> type = as_dtype(object.ptr());
  if (!type) throw_error<TypeMismatch>("torch.tensor", "argument 'dtype' must be torch.dtype, not {}", type_name(object.ptr()));
  return type;
}

std::optional<Device> device_argument(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  const std::optional<Device> device = as_device(object.ptr());
  if (!device) throw_error<TypeMismatch>("torch.tensor", "argument 'device' must be torch.device, not {}", type_name(object.ptr()));
  return device;
}

Tensor make_tensor(nb::handle data, nb::handle dtype, nb::handle device, bool requires_grad) {
  const Tensor made = tensor_from_data(data.ptr(), dtype_argument(dtype), device_argument(device));
  if (requires_grad) made.requires_grad_();
  return made;
}

// The memory of `tensor` as object of a subclass (nn.Parameter).
nb::object make_subclass(nb::handle type, const Tensor& tensor, bool requires_grad) {
  const Tensor made = tensor.detach();
  made.impl()->forget_base();
  if (requires_grad) made.requires_grad_();
  return nb::steal(checked(wrap_as(reinterpret_cast<PyTypeObject*>(type.ptr()), made)));
}

void bind_types(nb::module_& module) {
  module.def("get_default_dtype", [] { return nb::steal(wrap(get_default_dtype())); });
  module.def(
      "set_default_dtype", [](nb::handle type) { set_default_dtype(*dtype_argument(type)); }, nb::arg("dtype"));
  module.def(
      "promote_types", [](nb::handle a, nb::handle b) { return nb::steal(wrap(promote_types(*dtype_argument(a), *dtype_argument(b)))); },
      nb::arg("type1"), nb::arg("type2"));
  module.def(
      "can_cast", [](nb::handle from, nb::handle to) { return can_cast(*dtype_argument(from), *dtype_argument(to)); }, nb::arg("from_"),
      nb::arg("to"));
}

}  // namespace

}  // namespace mindtorch::python

NB_MODULE(_runtime, module) {
  using namespace mindtorch;
  using namespace mindtorch::python;
  module.doc() = "Tensors, ops, autograd and devices of the embedded runtime. Private: use the names of mindtorch_v2 and its submodules.";
  borrow_services();
  initialize_runtime();
  PyTypeObject* tensor = create_tensor_type();
  module.attr("Tensor") = nb::borrow(reinterpret_cast<PyObject*>(tensor));
  bind_dtype(module);
  bind_device(module);
  bind_size(module);
  bind_generator(module);
  bind_ops(module, tensor);
  bind_types(module);
  bind_autograd(module);
  bind_autograd_function(module);
  bind_tensor_data(module);
  bind_numpy(module);
  bind_dlpack(module);
  bind_optimizer(module);
  bind_devices(module);
  bind_named_scope(module);
  module.def("tensor", make_tensor, nb::arg("data"), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
             nb::arg("requires_grad") = false);
  module.def("make_subclass", make_subclass, nb::arg("type"), nb::arg("tensor"), nb::arg("requires_grad"));
}
