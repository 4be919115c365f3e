// Optimizer: changes parameters by their gradients. The base class has parameter groups, state, saving and loading.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/record/names.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::optim {

// Numbers by name: {"lr", 0.1}. Flags are 0 or 1.
using OptionMap = std::map<std::string, double, std::less<>>;

// Parameters that share their options. Options may be changed between steps, as a schedule of learning rates does.
struct ParamGroup {
  TensorVector params;
  OptionMap options = {};
};

// The state of one parameter: the number of its steps, and tensors by name ("momentum_buffer").
struct ParamState {
  std::int64_t step = 0;
  std::map<std::string, Tensor, std::less<>> tensors;
};

// The result of state_dict(). Parameters are numbered across all groups. The tensors share memory with the optimizer.
struct OptimizerStateDict {
  struct Group {
    OptionMap options;
    std::vector<std::int64_t> params;
  };
  std::map<std::int64_t, ParamState> state;
  std::vector<Group> param_groups;
};

class MINDTORCH_EXPORT Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates every parameter that has a gradient. Recorded as "Optimizer.step#SGD.step".
  void step();
  // Computes the loss again, then updates. Returns the loss.
  Tensor step(const std::function<Tensor()>& closure);
  // Recorded as "Optimizer.zero_grad#SGD.zero_grad".
  void zero_grad(bool set_to_none = true);

  // Options that the group does not name are those of the optimizer. Throws if a parameter is not a leaf or is in another group, or if an
  // option is unknown.
  void add_param_group(ParamGroup group);
  std::vector<ParamGroup>& param_groups() { return groups_; }

  OptimizerStateDict state_dict() const;
  // Takes over the options and copies the tensors to the devices of their parameters. Throws, and changes nothing, if the groups do not
  // have the same sizes. A dictionary without groups and state is accepted and changes nothing.
  void load_state_dict(const OptimizerStateDict& dict);

 protected:
  // `name` is that of the class. Every name in `defaults` is an option.
  Optimizer(std::string_view name, std::vector<ParamGroup> groups, OptionMap defaults);

  // Changes one parameter; gradients are off.
  virtual void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) = 0;

  // The tensor of this name in the state. `make` creates it if it does not exist.
  static Tensor state_tensor(ParamState& state, std::string_view name, const std::function<Tensor()>& make);
  // The first step of most optimizers: negates the gradient for maximize, and adds weight decay to it.
  static Tensor adjusted_gradient(const OptionMap& options, const Tensor& param, const Tensor& grad);

 private:
  void check_options(const OptionMap& options) const;

  OptionMap defaults_;
  std::vector<ParamGroup> groups_;
  std::unordered_map<const TensorImpl*, ParamState> state_;
  record::NameId step_name_, zero_grad_name_;
};

// An option that has a value that torch refuses: torch's words for it, and the name of the option. No name: the words say it all.
struct InvalidOption {
  std::string problem;  // "Invalid learning rate"
  std::string name;     // "lr"
};
// The first option that is invalid, whichever optimizer it is for. An optimizer throws InvalidArgument if its defaults have one.
MINDTORCH_EXPORT std::optional<InvalidOption> find_invalid_option(const OptionMap& options);

}  // namespace mindtorch::optim
