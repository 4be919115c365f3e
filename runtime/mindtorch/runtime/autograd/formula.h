// Formulas: how an op is differentiated. A formula is a small struct from which the autograd kernel and the graph node of the op are made.
//
//   struct MulBackward0 {
//     static constexpr std::string_view kName = "MulBackward0";
//     SavedVariable self, other;
//     MulBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), other(needs[0] ? b : Tensor()) {}
//     auto saved() { return std::tie(self, other); }
//     void operator()(Gradients& grads, const Tensor& grad) {
//       if (grads.needs(0)) grads.set(0, grad * grads.unpack(other));
//       if (grads.needs(1)) grads.set(1, grad * grads.unpack(self));
//     }
//   };
//
// The constructor sees the op's arguments before the op runs. Optional members:
//   void save_result(const Ret& result)          after the op has run; keep tensors as SavedVariable(result, true)
//   auto saved()                                 all SavedVariables, so that backward can free them
//   static bool saves_self(InputNeeds needs)     whether the first argument is saved: in-place forms then save a copy of it
//   static constexpr std::size_t kDifferentiableOutputs   outputs from this one on have no gradient (indices, statistics); default: all
//   have static constexpr bool kStopsAtIntegers       a result of integers has no gradient (conversions); otherwise it is an error
// operator() takes one gradient, or `const TensorVector&` if the op has several outputs (undefined where nothing flowed). It is written
// with ordinary ops, so that create_graph differentiates it again. Sums over broadcast dimensions and conversions of type are done by the
// engine.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/saved_variable.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/dispatch/op.h"

namespace mindtorch::autograd {

// Which tensor arguments of an op require a gradient. All tensors of the call count, elements of a list one by one.
class InputNeeds {
 public:
  explicit InputNeeds(std::uint64_t bits) : bits_(bits) {}
  bool operator[](std::size_t input) const { return input >= 64 || ((bits_ >> input) & 1) != 0; }

 private:
  std::uint64_t bits_;
};

// The gradients that a formula returns, one for each tensor argument.
class Gradients {
 public:
  explicit Gradients(Node& node) : node_(node), values_(node.num_outputs()) {}
  bool needs(std::size_t input) const { return node_.should_compute_output(input); }
  void set(std::size_t input, Tensor grad) { values_[input] = std::move(grad); }
  Tensor unpack(const SavedVariable& saved) const { return saved.unpack(&node_); }
  std::size_t size() const { return values_.size(); }
  TensorVector take() { return std::move(values_); }

 private:
  Node& node_;
  TensorVector values_;
};

template <class Formula>
class FormulaNode final : public Node {
 public:
  const NodeName& node_name() const override {
    static const NodeName name(Formula::kName);
    return name;
  }
  void release_variables() override {
    if constexpr (requires { formula->saved(); }) {
      std::lock_guard lock(mutex());
      std::apply([](auto&... saved) { (saved.release(), ...); }, formula->saved());
    }
  }

  std::optional<Formula> formula;

 protected:
  TensorVector apply(TensorVector&& inputs) override {
    std::lock_guard lock(mutex());
    Gradients grads(*this);
    if constexpr (std::is_invocable_v<Formula&, Gradients&, const TensorVector&>)
      (*formula)(grads, std::as_const(inputs));
    else if (inputs[0].defined())
      (*formula)(grads, inputs[0]);
    return grads.take();
  }
};

template <class... Args>
bool any_requires_grad(const Args&... args) {
  bool any = false;
  (each_tensor(args, [&](const Tensor& tensor) { any = any || (tensor.defined() && requires_grad(tensor)); }), ...);
  return any;
}

[[noreturn]] MINDTORCH_EXPORT void fail_no_derivative(const OpBase& op);

template <class Formula>
constexpr std::size_t differentiable_outputs() {
  if constexpr (requires { Formula::kDifferentiableOutputs; })
    return Formula::kDifferentiableOutputs;
  else
    return std::numeric_limits<std::size_t>::max();
}
template <class Formula>
constexpr bool stops_at_integers() {
  if constexpr (requires { Formula::kStopsAtIntegers; })
    return Formula::kStopsAtIntegers;
  else
    return false;
}
// self.clone(), differentiable.
MINDTORCH_EXPORT Tensor copy_of(const Tensor& self);

// The autograd kernel of an op: runs the op below autograd and attaches a FormulaNode to its results.
template <auto& op, class Formula>
struct FormulaKernel;

template <class Ret, class... Args, Op<Ret(Args...)>& op, class Formula>
struct FormulaKernel<op, Formula> {
  static Ret call(DispatchKeySet keys, Args... args) {
    if (!any_requires_grad(args...)) return run(keys, args...);
    auto node = make_intrusive<FormulaNode<Formula>>();
    std::uint64_t bits = 0;
    (each_tensor(args,
                 [&](const Tensor& tensor) {
                   Edge edge = tensor.defined() ? gradient_edge(tensor) : Edge();
                   if (edge.is_valid() && node->num_outputs() < 64) bits |= std::uint64_t{1} << node->num_outputs();
                   node->add_next_edge(std::move(edge));
                 }),
     ...);
    const InputNeeds needs(bits);
    if constexpr (kMayBeInPlace) {
      if (op.mutates_self()) return write_in_place(node, needs, keys, args...);
    }
    node->formula.emplace(needs, args...);
    Ret result = run(keys, args...);
    std::size_t number = 0;
    each_tensor(result, [&](const Tensor& output) {
      if (number++ >= differentiable_outputs<Formula>()) return;
      if (!stops_at_integers<Formula>() || output.is_floating_point()) set_history(output, node);
    });
    if constexpr (requires { node->formula->save_result(result); }) node->formula->save_result(result);
    return result;
  }

 private:
  static constexpr bool kMayBeInPlace =
      std::is_same_v<Ret, Tensor> && std::is_same_v<std::tuple_element_t<0, std::tuple<std::remove_cvref_t<Args>...>>, Tensor>;

  static Ret run(DispatchKeySet keys, Args... args) {
    BelowAutograd guard;
    return op.redispatch(keys & kAfterAutogradKeys, args...);
  }

  template <class... Rest>
  static Ret write_in_place(const IntrusivePtr<FormulaNode<Formula>>& node, InputNeeds needs, DispatchKeySet keys, const Tensor& self,
                            const Rest&... rest) {
    if (stops_at_integers<Formula>() && !self.is_floating_point()) return run(keys, self, rest...);
    check_differentiable_write(self, Formula::kName);
    bool saves_self = false;
    if constexpr (requires { Formula::saves_self(needs); }) saves_self = Formula::saves_self(needs);
    node->formula.emplace(needs, saves_self ? copy_of(self) : self, rest...);
    run(keys, self, rest...);
    rebase_history(self, node);
    if constexpr (requires { node->formula->save_result(self); }) node->formula->save_result(self);
    return self;
  }
};

}  // namespace mindtorch::autograd
