// Tensor's attributes: geometry, type, place, and what autograd knows.
#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/autograd.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"
#include "runtime/python/src/tensor_slots.h"

namespace mindtorch::python {

namespace {

// A getter made of a function of a tensor that gives a new reference.
template <auto function>
PyObject* get(PyObject* self, void*) {
  return guarded([&] { return function(unwrap(self)); });
}
template <auto function>
int set(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        function(unwrap(self), value);
        return 0;
      },
      -1);
}

PyObject* shape(const Tensor& tensor) { return wrap_size(tensor.sizes()); }
PyObject* dtype(const Tensor& tensor) { return wrap(tensor.dtype()); }
PyObject* device(const Tensor& tensor) { return wrap(tensor.device()); }
PyObject* ndim(const Tensor& tensor) { return PyLong_FromLongLong(tensor.dim()); }
PyObject* itemsize(const Tensor& tensor) { return PyLong_FromSize_t(tensor.element_size()); }
PyObject* nbytes(const Tensor& tensor) { return PyLong_FromSize_t(tensor.nbytes()); }
PyObject* version(const Tensor& tensor) { return PyLong_FromUnsignedLong(tensor.version()); }
PyObject* output_nr(const Tensor& tensor) { return PyLong_FromUnsignedLong(tensor.output_nr()); }
PyObject* is_cuda(const Tensor& tensor) { return PyBool_FromLong(tensor.device().type == kCUDA); }
PyObject* is_npu(const Tensor& tensor) { return PyBool_FromLong(tensor.device().type == kNPU); }
PyObject* is_cpu(const Tensor& tensor) { return PyBool_FromLong(tensor.is_cpu()); }
PyObject* is_leaf(const Tensor& tensor) { return PyBool_FromLong(tensor.is_leaf()); }
PyObject* retains_grad(const Tensor& tensor) { return PyBool_FromLong(tensor.retains_grad()); }
PyObject* base(const Tensor& tensor) { return wrap(Tensor(tensor.impl()->base())); }

PyObject* transposed(const Tensor& tensor) {
  if (tensor.dim() == 2) return wrap(tensor.t());
  DimVector dims;
  for (std::int64_t d = tensor.dim(); d-- > 0;) dims.push_back(d);
  return wrap(tensor.permute(dims));
}
PyObject* matrix_transposed(const Tensor& tensor) {
  if (tensor.dim() < 2)
    throw_error("Tensor.mT", "tensor.mT is only supported on matrices or batches of matrices. Got {}-D tensor.", tensor.dim());
  return wrap(tensor.transpose(-2, -1));
}

PyObject* requires_grad(const Tensor& tensor) { return PyBool_FromLong(tensor.requires_grad()); }
void set_requires_grad(const Tensor& tensor, PyObject* value) {
  if (value == nullptr || !PyBool_Check(value)) throw_error<TypeMismatch>("Tensor.requires_grad", "requires_grad must be a bool");
  tensor.requires_grad_(value == Py_True);
}

PyObject* grad(const Tensor& tensor) { return wrap(tensor.grad()); }
void set_grad(const Tensor& tensor, PyObject* value) {
  if (value == nullptr || value == Py_None) return tensor.set_grad({});
  if (!is_tensor(value))
    throw_error<TypeMismatch>("Tensor.grad", "assigned grad expected to be a Tensor or None but got grad of type {}", type_name(value));
  const Tensor& given = unwrap(value);
  if (given.is_same(tensor)) throw_error("Tensor.grad", "can't assign Variable as its own grad");
  if (given.dtype() != tensor.dtype() || given.device() != tensor.device())
    throw_error("Tensor.grad", "assigned grad has data of a different type or device: {} on {} for a tensor of {} on {}",
                dtype_name(given.dtype()), given.device().str(), dtype_name(tensor.dtype()), tensor.device().str());
  tensor.set_grad(given);
}

PyObject* grad_fn(const Tensor& tensor) { return wrap_node(tensor.grad_fn()); }

// The same memory without history; assigning to it changes the memory of the tensor.
PyObject* data(const Tensor& tensor) { return wrap(tensor.detach()); }
void set_data(const Tensor& tensor, PyObject* value) {
  if (value == nullptr || !is_tensor(value)) throw_error<TypeMismatch>("Tensor.data", "data must be a Tensor");
  const Tensor& given = unwrap(value);
  if (tensor.requires_grad() && !given.is_floating_point())
    throw_error("Tensor.data", "data set to a tensor that requires gradients must be floating point, got {}", dtype_name(given.dtype()));
  tensor.impl()->replace(given.storage(), given.dtype(), given.sizes(), given.strides(), given.storage_offset());
}

PyGetSetDef properties[] = {
    {"shape", get<shape>, nullptr, "Size of each dimension.", nullptr},
    {"dtype", get<dtype>, nullptr, "Type of the elements.", nullptr},
    {"device", get<device>, nullptr, "Where the elements are.", nullptr},
    {"ndim", get<ndim>, nullptr, "Number of dimensions.", nullptr},
    {"itemsize", get<itemsize>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get<nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"_version", get<version>, nullptr, "How often the memory has been written to.", nullptr},
    {"output_nr", get<output_nr>, nullptr, "Which output of grad_fn this is.", nullptr},
    {"is_cuda", get<is_cuda>, nullptr, nullptr, nullptr},
    {"is_npu", get<is_npu>, nullptr, nullptr, nullptr},
    {"is_cpu", get<is_cpu>, nullptr, nullptr, nullptr},
    {"is_leaf", get<is_leaf>, nullptr, "True if no op made this tensor, as far as gradients go.", nullptr},
    {"retains_grad", get<retains_grad>, nullptr, "True after retain_grad() on a tensor that is not a leaf.", nullptr},
    {"_base", get<base>, nullptr, "The tensor this is a view of, or None.", nullptr},
    {"T", get<transposed>, nullptr, "The dimensions in reverse order.", nullptr},
    {"mT", get<matrix_transposed>, nullptr, "The last two dimensions swapped.", nullptr},
    {"requires_grad", get<requires_grad>, set<set_requires_grad>, "True if gradients are computed for this tensor.", nullptr},
    {"grad", get<grad>, set<set_grad>, "The gradient that backward() has added up, or None.", nullptr},
    {"grad_fn", get<grad_fn>, nullptr, "The node of the graph that made this tensor, or None.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"data", get<data>, set<set_data>, "The same memory without history.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void add_property_slots(std::vector<PyType_Slot>& slots) { slots.push_back({Py_tp_getset, properties}); }

}  // namespace mindtorch::python
