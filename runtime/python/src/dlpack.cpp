// Tensors as DLPack capsules and back.
#include "runtime/python/src/dlpack.h"

#include <nanobind/stl/pair.h>

#include "mindtorch/runtime/functions.h"
#include "runtime/python/src/exchange.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

using namespace dlpack;

DLType type_code(ScalarType type) {
  const auto bits = static_cast<std::uint8_t>(8 * element_size(type));
  if (type == kBool) return {kDLBool, bits, 1};
  if (is_floating_point(type)) return {kDLFloat, bits, 1};
  return {static_cast<std::uint8_t>(type == kUint8 ? kDLUint : kDLInt), bits, 1};
}

ScalarType scalar_type(DLType type) {
  for (const ScalarType known : {kUint8, kInt32, kInt64, kFloat32, kFloat64, kBool}) {
    const DLType code = type_code(known);
    if (code.code == type.code && code.bits == type.bits && type.lanes == 1) return known;
  }
  throw nb::buffer_error("from_dlpack: the element type is not supported");
}

std::pair<int, int> device_code(Device device) {
  return {device.is_cpu() ? kDLCpu : device.type == kCUDA ? kDLCuda : kDLExtension, device.index};
}

// A struct of DLPack together with what it points to.
template <class Struct>
struct Exported {
  Struct managed{};
  Tensor tensor;
  DimVector sizes, strides;
};

template <class Struct>
PyObject* export_tensor(const Tensor& tensor, const char* capsule_name) {
  auto* exported = new Exported<Struct>{{}, tensor, tensor.sizes(), tensor.strides()};
  const auto [code, index] = device_code(tensor.device());
  exported->managed.array = {tensor.data_ptr(),
                             {code, index},
                             static_cast<std::int32_t>(tensor.dim()),
                             type_code(tensor.dtype()),
                             exported->sizes.data(),
                             exported->strides.data(),
                             0};
  exported->managed.context = exported;
  exported->managed.deleter = [](Struct* self) { delete static_cast<Exported<Struct>*>(self->context); };
  if constexpr (requires { exported->managed.major; }) exported->managed.major = 1;
  return PyCapsule_New(&exported->managed, capsule_name, [](PyObject* capsule) {
    // A consumer renames the capsule: then the memory is its own.
    const char* name = PyCapsule_GetName(capsule);
    if (name == nullptr || std::string_view(name).starts_with("used")) return;
    auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
  });
}

nb::object to_dlpack(const Tensor& tensor, nb::object max_version) {
  if (tensor.requires_grad()) throw nb::buffer_error("Can't export tensors that require gradient, use tensor.detach()");
  const bool is_versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  return nb::steal(
      checked(is_versioned ? export_tensor<ManagedVersioned>(tensor, "dltensor_versioned") : export_tensor<Managed>(tensor, "dltensor")));
}

template <class Struct>
Tensor import_capsule(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr) throw nb::python_error();
  const DLArray& array = managed->array;
  if (array.device.code != kDLCpu) throw nb::buffer_error("from_dlpack: only memory of the CPU can be shared");
  const ScalarType type = scalar_type(array.type);
  const IntArrayRef sizes(array.shape, static_cast<std::size_t>(array.ndim));
  const DimVector strides = array.strides != nullptr ? DimVector(IntArrayRef(array.strides, sizes.size())) : contiguous_strides(sizes);
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] < 0) throw nb::buffer_error("from_dlpack: negative strides are not supported");
    if (sizes[d] > 1) elements += (sizes[d] - 1) * strides[d];
  }
  auto storage = Storage::wrap(static_cast<char*>(array.data) + array.byte_offset, static_cast<std::size_t>(elements) * element_size(type),
                               Device(), [managed] {
                                 if (managed->deleter != nullptr) managed->deleter(managed);
                               });
  PyCapsule_SetName(capsule, used_name);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), type, sizes, strides, 0, nullptr));
}

Tensor from_dlpack(nb::object source) {
  nb::object capsule = source;
  if (nb::hasattr(source, "__dlpack__")) {
    // Producers of before DLPack 1.0 do not know the argument.
    try {
      capsule = source.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      capsule = source.attr("__dlpack__")();
    }
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0)
    return import_capsule<ManagedVersioned>(capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned");
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) return import_capsule<Managed>(capsule.ptr(), "dltensor", "used_dltensor");
  throw nb::type_error("from_dlpack: expected an object with __dlpack__ or a capsule that was not consumed yet");
}

}  // namespace

void bind_dlpack(nb::module_& module) {
  module.def("to_dlpack", to_dlpack, nb::arg("tensor"), nb::arg("max_version") = nb::none());
  module.def(
      "dlpack_device", [](const Tensor& tensor) { return device_code(tensor.device()); }, nb::arg("tensor"));
  module.def("from_dlpack", from_dlpack, nb::arg("source"));
}

}  // namespace mindtorch::python
