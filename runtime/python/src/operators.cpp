// Tensor's operators: each calls the op of the same meaning.
#include <array>

#include "mindtorch/runtime/functions.h"
#include "runtime/python/src/op_function.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"
#include "runtime/python/src/tensor_slots.h"

namespace mindtorch::python {

namespace {

// The name of an op as template argument.
template <std::size_t N>
struct Name {
  constexpr Name(const char (&text)[N]) { std::copy(text, text + N, characters); }
  char characters[N];
};

template <Name name>
const OpFunction& op() {
  static const OpFunction& function = find_op_function(name.characters);
  return function;
}

template <Name name>
PyObject* unary(PyObject* self) {
  return guarded([&] { return op<name>().call_operator({self}); });
}

template <Name name>
PyObject* in_place(PyObject* self, PyObject* other) {
  return guarded([&] { return op<name>().call_operator({self, other}); });
}

// a + b where either may be the tensor.
template <Name name>
PyObject* commutative(PyObject* a, PyObject* b) {
  return guarded([&] { return is_tensor(a) ? op<name>().call_operator({a, b}) : op<name>().call_operator({b, a}); });
}

PyObject* subtract(PyObject* a, PyObject* b) {
  return guarded([&] { return is_tensor(a) ? op<"sub">().call_operator({a, b}) : op<"rsub">().call_operator({b, a}); });
}

PyObject* divide(PyObject* a, PyObject* b) {
  return guarded([&] {
    if (is_tensor(a)) return op<"div">().call_operator({a, b});
    const nb::object reciprocal = nb::steal(checked(op<"reciprocal">().call_operator({b})));
    return op<"mul">().call_operator({reciprocal.ptr(), a});
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return guarded([&] { return op<"pow">().call_operator({a, b}); });
}
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) {
  return guarded([&] { return op<"pow_">().call_operator({a, b}); });
}

PyObject* matrix_product(PyObject* a, PyObject* b) {
  return guarded([&] { return op<"matmul">().call_operator({a, b}); });
}

// Bits are bools here: integers have no bitwise ops.
template <Name name>
PyObject* of_bools(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    for (PyObject* operand : {a, b})
      if (is_tensor(operand) ? unwrap(operand).dtype() != kBool : !PyBool_Check(operand)) Py_RETURN_NOTIMPLEMENTED;
    if (is_tensor(a) && is_tensor(b)) return op<name>().call_operator({a, b});
    const Tensor mask = unwrap(is_tensor(a) ? a : b);
    const nb::object other = nb::steal(checked(wrap(full_like(mask, PyObject_IsTrue(is_tensor(a) ? b : a) == 1))));
    return op<name>().call_operator({is_tensor(a) ? a : b, other.ptr()});
  });
}

PyObject* invert(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (unwrap(self).dtype() != kBool)
      throw_error<TypeMismatch>("Tensor.__invert__", "~ (operator.invert) is only implemented on bool tensors");
    return op<"logical_not">().call_operator({self});
  });
}

PyObject* positive(PyObject* self) { return Py_NewRef(self); }

PyObject* compare(PyObject* a, PyObject* b, int kind) {
  return guarded([&]() -> PyObject* {
    switch (kind) {
      case Py_EQ: return op<"eq">().call_operator({a, b});
      case Py_NE: return op<"ne">().call_operator({a, b});
      case Py_LT: return op<"lt">().call_operator({a, b});
      case Py_LE: return op<"le">().call_operator({a, b});
      case Py_GT: return op<"gt">().call_operator({a, b});
      default: return op<"ge">().call_operator({a, b});
    }
  });
}

Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4); }

// ---- numbers ----

int truth(PyObject* self) {
  return guarded(
      [&] {
        const Tensor& tensor = unwrap(self);
        if (tensor.numel() > 1) throw_error("Tensor.__bool__", "Boolean value of Tensor with more than one value is ambiguous");
        if (tensor.numel() == 0) throw_error("Tensor.__bool__", "Boolean value of Tensor with no values is ambiguous");
        return item_of(tensor).to_bool() ? 1 : 0;
      },
      -1);
}

PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(item_of(unwrap(self)).to_double()); });
}

PyObject* as_int(PyObject* self) {
  return guarded([&] {
    const Scalar value = item_of(unwrap(self));
    return value.is_floating_point() ? PyLong_FromDouble(value.to_double()) : PyLong_FromLongLong(value.to_int());
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = unwrap(self);
    if (!is_integral(tensor.dtype(), true) || tensor.numel() != 1)
      throw_error<TypeMismatch>("Tensor.__index__", "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(item_of(tensor).to_int());
  });
}

template <class F>
PyType_Slot slot(int id, F function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {slot(Py_nb_add, commutative<"add">),
                             slot(Py_nb_subtract, subtract),
                             slot(Py_nb_multiply, commutative<"mul">),
                             slot(Py_nb_true_divide, divide),
                             slot(Py_nb_power, power),
                             slot(Py_nb_matrix_multiply, matrix_product),
                             slot(Py_nb_and, of_bools<"logical_and">),
                             slot(Py_nb_or, of_bools<"logical_or">),
                             slot(Py_nb_xor, of_bools<"ne">),
                             slot(Py_nb_inplace_add, in_place<"add_">),
                             slot(Py_nb_inplace_subtract, in_place<"sub_">),
                             slot(Py_nb_inplace_multiply, in_place<"mul_">),
                             slot(Py_nb_inplace_true_divide, in_place<"div_">),
                             slot(Py_nb_inplace_power, power_in_place),
                             slot(Py_nb_negative, unary<"neg">),
                             slot(Py_nb_positive, positive),
                             slot(Py_nb_absolute, unary<"abs">),
                             slot(Py_nb_invert, invert),
                             slot(Py_nb_bool, truth),
                             slot(Py_nb_float, as_float),
                             slot(Py_nb_int, as_int),
                             slot(Py_nb_index, as_index),
                             slot(Py_tp_richcompare, compare),
                             slot(Py_tp_hash, hash)});
}

}  // namespace mindtorch::python
