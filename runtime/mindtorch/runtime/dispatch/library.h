// Library: the registry of ops. Each family of ops has one function that registers it, listed in runtime/initialize.cpp:
//
//   constinit Op<Tensor(const Tensor&, const Tensor&)> mul_op{"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"};
//   void register_elementwise_ops(Library& library) {
//     library.define<mul_op>().kernel<mul_kernel>().autograd<MulBackward0>();
//   }
// runtime/docs/adding_an_op.md explains all steps.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/formula.h"
#include "mindtorch/runtime/dispatch/boxing.h"
#include "mindtorch/runtime/dispatch/op.h"

namespace mindtorch {

// Collects the properties of one op. They take effect together, at the end of the statement.
class MINDTORCH_EXPORT OpEntry {
 public:
  OpEntry(const OpEntry&) = delete;
  OpEntry& operator=(const OpEntry&) = delete;
  ~OpEntry() { resolve(); }

 protected:
  explicit OpEntry(OpBase& op) : op_(op) {}
  void set(DispatchKey key, AnyKernel kernel) { op_.registered_[static_cast<std::size_t>(key)] = kernel; }
  OpBase& op_;

 private:
  // Fills the table of kernels: explicit kernels first, then composites. Autograd falls through for implicit composites.
  void resolve();
};

template <auto& op>
class Definition;

template <class Ret, class... Args, Op<Ret(Args...)>& op>
class Definition<op> : public OpEntry {
 public:
  explicit Definition(OpBase& base) : OpEntry(base) { set(DispatchKey::kAutograd, reinterpret_cast<AnyKernel>(&no_derivative)); }

  // Host code for every device that can execute it. It computes inside launch() (runtime/launch.h) and may take the key set as its first
  // parameter.
  template <auto function>
  Definition& kernel() {
    set(DispatchKey::kCompositeExplicit, reinterpret_cast<AnyKernel>(&trampoline<function>));
    return *this;
  }
  // Code for one backend. It takes precedence over kernel().
  template <auto function>
  Definition& kernel(DispatchKey key) {
    set(key, reinterpret_cast<AnyKernel>(&trampoline<function>));
    return *this;
  }
  // The op consists of other ops, which are differentiated instead.
  template <auto function>
  Definition& composite() {
    set(DispatchKey::kCompositeImplicit, reinterpret_cast<AnyKernel>(&trampoline<function>));
    set(DispatchKey::kAutograd, nullptr);
    return *this;
  }
  // The formula of the gradients: see autograd/formula.h.
  template <class Formula>
  Definition& autograd() {
    set(DispatchKey::kAutograd, reinterpret_cast<AnyKernel>(&autograd::FormulaKernel<op, Formula>::call));
    return *this;
  }
  // The result never requires a gradient.
  Definition& not_differentiable() {
    set(DispatchKey::kAutograd, reinterpret_cast<AnyKernel>(&below_autograd));
    return *this;
  }

 private:
  template <auto function>
  static Ret trampoline(DispatchKeySet keys, Args... args) {
    if constexpr (std::is_invocable_v<decltype(function), DispatchKeySet, Args...>)
      return function(keys, args...);
    else
      return function(args...);
  }
  static Ret below_autograd(DispatchKeySet keys, Args... args) {
    BelowAutograd guard;
    return op.redispatch(keys & kAfterAutogradKeys, args...);
  }
  static Ret no_derivative(DispatchKeySet keys, Args... args) {
    if (autograd::any_requires_grad(args...)) autograd::fail_no_derivative(op);
    return below_autograd(keys, args...);
  }
};

// All ops of the process.
class MINDTORCH_EXPORT Library {
 public:
  static Library& get();

  // Parses the schema and compares it with the C++ signature; throws if they differ or the op exists already.
  template <auto& op>
  Definition<op> define() {
    add(op, typeid(op), signature_of(op), &BoxedCall<std::remove_cvref_t<decltype(op)>>::call);
    return Definition<op>(op);
  }

  // "aten::add.Tensor" -> the op, or null. Any thread.
  OpBase* find(std::string_view full_name) const;
  // Names of all ops, sorted.
  std::vector<std::string> names() const;

  // Sets the kernel of one device for an existing op: a function with the op's signature and the key set in front. Throws if the op does
  // not exist or has another signature. A null kernel removes it.
  template <class Ret, class... Args>
  void set_kernel(std::string_view full_name, DispatchKey key, Ret (*kernel)(DispatchKeySet, Args...)) {
    set_any_kernel(full_name, key, typeid(Op<Ret(Args...)>), reinterpret_cast<AnyKernel>(kernel));
  }

 private:
  struct Record {
    OpBase* op;
    const std::type_info* type;
    FunctionSchema schema;
  };
  struct Signature {
    std::vector<SchemaType> arguments, results;
  };
  template <class Ret, class... Args>
  static Signature signature_of(const Op<Ret(Args...)>&) {
    return {{SchemaTypeOf<std::remove_cvref_t<Args>>::value...}, ResultTypes<Ret>::get()};
  }
  void add(OpBase& op, const std::type_info& type, const Signature& signature, ValueVector (*boxed)(const OpBase&, std::span<const Value>));
  void set_any_kernel(std::string_view full_name, DispatchKey key, const std::type_info& type, AnyKernel kernel);

  mutable std::mutex mutex_;
  std::map<std::string, Record, std::less<>> ops_;
};

}  // namespace mindtorch
