// Ops as Python functions and methods. An OpFunction has all overloads of one name. A call uses the first overload whose schema fits the
// arguments, as in torch, and calls the dispatcher. This code knows no particular op: every registered op becomes a function.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/runtime/dispatch/library.h"
#include "runtime/python/src/argument.h"

namespace mindtorch::python {

// More arguments than any op has.
inline constexpr std::size_t kMaxArguments = 20;

// The arguments of a call as the interpreter passes them.
struct CallArguments {
  PyObject* const* values;
  std::size_t positional;
  PyObject* keywords;  // tuple of names, or null; their values follow the positional ones
  std::size_t keyword_count() const { return keywords != nullptr ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0; }
};

class Overload {
 public:
  explicit Overload(const OpBase& op);

  // The arguments in schema order; false if they do not fit.
  bool bind(const CallArguments& arguments, std::span<Value> values, bool& requires_grad) const;
  // The result as a Python object. Null with a Python error if it could not be made. Throws the exceptions of the op.
  PyObject* call(std::span<Value> values, bool requires_grad) const;

  const OpBase& op() const { return *op_; }
  std::size_t size() const { return parameters_.size(); }
  bool is_method() const { return is_method_; }
  // "(Tensor input, Tensor other, *, Number alpha = 1)"
  std::string str() const;
  // The reason why the arguments do not fit, in torch's words for a function with one signature. It follows the name of the function.
  std::string mismatch(const CallArguments& arguments) const;

 private:
  const Parameter* find(PyObject* name) const;  // null if there is no such parameter
  bool bind_keyword(PyObject* name, PyObject* object, std::span<Value> values, std::uint32_t& given, bool& requires_grad) const;
  PyObject* results(const ValueVector& values) const;

  const OpBase* op_;
  std::vector<Parameter> parameters_;
  std::size_t positional_ = 0;           // how many may be given by position
  std::size_t required_ = 0;             // bits of those that must be given
  int spread_ = -1;                      // the list of integers that may be given one by one: view(2, 3)
  bool makes_tensor_ = false;            // takes requires_grad= in addition to the schema
  bool is_method_ = false;               // the first argument is self
  PyTypeObject* result_type_ = nullptr;  // for several results with names
};

class OpFunction {
 public:
  explicit OpFunction(std::string name) : name_(std::move(name)) {}
  void add(const OpBase& op);
  // An op of another name, tried before or after all others.
  void add_extra(const OpBase& op, bool first);
  const std::string& name() const { return name_; }
  bool is_method() const { return is_method_; }

  // A new reference; throws TypeMismatch with the accepted signatures if no overload fits.
  PyObject* call(const CallArguments& arguments) const;
  // The same for operators: NotImplemented if no overload fits.
  PyObject* call_operator(std::initializer_list<PyObject*> arguments) const;

  std::string signatures() const;
  std::vector<std::string> schemas() const;

 private:
  PyObject* try_call(const CallArguments& arguments) const;  // NotImplemented if no overload fits
  [[noreturn]] void fail(const CallArguments& arguments) const;

  std::string name_;
  std::vector<Overload> overloads_;
  bool is_method_ = false;
};

// All ops of the library: `functions` becomes a dictionary from names to callables; those that are methods are set on `tensor_type`.
void bind_ops(nb::module_& module, PyTypeObject* tensor_type);

// The function of this name, which is never destroyed. Throws if it does not exist.
const OpFunction& find_op_function(std::string_view name);

}  // namespace mindtorch::python
