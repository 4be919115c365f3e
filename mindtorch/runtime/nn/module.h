// Module: a part of a model. It owns parameters and buffers, has other modules as children, and can be called like a function.
//
//   struct Mlp : nn::Module {
//     nn::Linear hidden{784, 128}, out{128, 10};
//     Mlp() { register_module("hidden", hidden), register_module("out", out); }
//     Tensor forward(const Tensor& x) override { return out(relu(hidden(x))); }
//   };
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::nn {

// Names and tensors, in the order of registration.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using StateDict = NamedTensors;

// Not thread-safe, but any number of threads may call a module that is not being changed. It cannot be copied or moved, because parents
// refer to their children by address.
class MINDTORCH_EXPORT Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Computes the output. Modules with other arguments have their own forward() and an operator() that uses call().
  virtual Tensor forward(const Tensor& input);
  // forward() with hooks, recorded as an event if a session asks for modules.
  Tensor operator()(const Tensor& input);

  // "Linear": the name of the class.
  std::string type_name() const;

  // Including those of children, each tensor once: "layers.0.weight".
  TensorVector parameters() const;
  NamedTensors named_parameters() const;
  TensorVector buffers() const;
  NamedTensors named_buffers() const;
  std::vector<Module*> children() const;  // direct ones
  std::vector<std::pair<std::string, Module*>> named_children() const;
  std::vector<Module*> modules();  // this one and all below it
  std::vector<std::pair<std::string, Module*>> named_modules();

  // Calls `function` with every module below this one, then with this one.
  void apply(const std::function<void(Module&)>& function);
  // Sets the mode of this module and all modules below it. Dropout and batch norm behave differently while training.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }
  // Moves or converts parameters, buffers and gradients in place; tensors keep their identity. Only floating point types are converted.
  void to(Device device);
  void to(ScalarType dtype);
  void requires_grad_(bool requires_grad = true);
  void zero_grad(bool set_to_none = true);

  // Parameters and persistent buffers by name. The tensors share memory with the module.
  StateDict state_dict() const;
  // Copies values into the tensors of the module. Throws an error that names every problem before anything is copied. Without `strict`,
  // missing and unexpected names are ignored.
  void load_state_dict(const StateDict& state, bool strict = true);

  // A pre-hook may return other inputs (an empty vector: no change), and a hook another output (an undefined tensor: no change). Returns an
  // id for remove_hook().
  using ForwardPreHook = std::function<TensorVector(Module&, const TensorVector& inputs)>;
  using ForwardHook = std::function<Tensor(Module&, const TensorVector& inputs, const Tensor& output)>;
  std::uint64_t register_forward_pre_hook(ForwardPreHook hook);
  std::uint64_t register_forward_hook(ForwardHook hook);
  void remove_hook(std::uint64_t id);

 protected:
  // An undefined tensor is registered as absent. Returns the tensor, which requires a gradient from now on.
  Tensor register_parameter(std::string name, Tensor parameter);
  // A buffer that is not persistent is not part of state_dict().
  Tensor register_buffer(std::string name, Tensor buffer, bool persistent = true);
  // A child that is a member of this object, or one that is shared.
  void register_module(std::string name, Module& child);
  void register_module(std::string name, std::shared_ptr<Module> child);

  // Calls forward(inputs) with the hooks before and after it, and records the event. The result is a Tensor, or a tuple whose first element
  // is passed to hooks.
  template <class Forward>
  auto call(TensorVector inputs, const Forward& forward) -> std::invoke_result_t<const Forward&, const TensorVector&> {
    if (!is_observed()) return forward(inputs);
    const record::NamedScope scope = open_scope();
    inputs = run_pre_hooks(std::move(inputs));
    auto result = forward(std::as_const(inputs));
    run_hooks(inputs, first_output(result));
    return result;
  }

 private:
  struct OwnTensor {
    std::string name;
    Tensor tensor;
    bool persistent = true;
  };
  struct Child {
    std::string name;
    std::shared_ptr<Module> module;
  };
  template <class Hook>
  struct Registered {
    std::uint64_t id;
    Hook hook;
  };

  static Tensor& first_output(Tensor& result) { return result; }
  template <class... Ts>
  static Tensor& first_output(std::tuple<Tensor, Ts...>& result) {
    return std::get<0>(result);
  }

  bool is_observed() const { return !pre_hooks_.empty() || !hooks_.empty() || record::current_state() != 0; }
  record::NamedScope open_scope();
  TensorVector run_pre_hooks(TensorVector inputs);
  void run_hooks(const TensorVector& inputs, Tensor& output);

  void check_name(std::string_view name) const;
  void collect_modules(const std::string& prefix, std::vector<std::pair<std::string, Module*>>& found);
  NamedTensors collect(std::vector<OwnTensor> Module::*tensors, bool only_persistent) const;
  void convert_tensors(const std::function<Tensor(const Tensor&)>& convert);

  std::vector<OwnTensor> parameters_;
  std::vector<OwnTensor> buffers_;
  std::vector<Child> children_;
  std::vector<Registered<ForwardPreHook>> pre_hooks_;
  std::vector<Registered<ForwardHook>> hooks_;
  std::uint64_t next_hook_ = 1;
  bool training_ = true;
  std::atomic<record::NameId> event_name_{0};  // "nn.Module: Linear_0"; set when it is first needed
};

}  // namespace mindtorch::nn
