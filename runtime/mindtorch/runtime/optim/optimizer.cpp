// The base class of optimizers.
#include "mindtorch/runtime/optim/optimizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

namespace {

void mark(const Tensor& tensor, trace::MemoryCategory category) { record::record_memory_category(tensor.storage()->data(), category); }

}  // namespace

std::optional<InvalidOption> find_invalid_option(const OptionMap& options) {
  const auto value = [&](std::string_view name, double otherwise) {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
  };
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNotNegative = {
      {{"lr", "learning rate"},
       {"lr_decay", "lr_decay value"},
       {"eps", "epsilon value"},
       {"momentum", "momentum value"},
       {"weight_decay", "weight_decay value"},
       {"alpha", "alpha value"},
       {"initial_accumulator_value", "initial_accumulator_value value"}}};
  for (const auto& [name, what] : kNotNegative)
    if (!(value(name, 0) >= 0)) return InvalidOption{fmt::format("Invalid {}", what), std::string(name)};
  for (const int index : {0, 1}) {
    const std::string name = fmt::format("beta{}", index + 1);
    if (const double beta = value(name, 0); !(beta >= 0 && beta < 1))
      return InvalidOption{fmt::format("Invalid beta parameter at index {}", index), name};
  }
  if (value("nesterov", 0) != 0 && (value("momentum", 0) <= 0 || value("dampening", 0) != 0))
    return InvalidOption{"Nesterov momentum requires a momentum and zero dampening", ""};
  return std::nullopt;
}

Optimizer::Optimizer(std::string_view name, std::vector<ParamGroup> groups, OptionMap defaults)
    : defaults_(std::move(defaults)),
      step_name_(record::intern(fmt::format("Optimizer.step#{}.step", name))),
      zero_grad_name_(record::intern(fmt::format("Optimizer.zero_grad#{}.zero_grad", name))) {
  if (const auto invalid = find_invalid_option(defaults_)) {
    throw_error<InvalidArgument>("optim", "{}{}", invalid->problem,
                                 invalid->name.empty() ? "" : fmt::format(": {}", defaults_.find(invalid->name)->second));
  }
  for (ParamGroup& group : groups) add_param_group(std::move(group));
  if (groups_.empty()) throw_error<InvalidArgument>("optim", "optimizer got an empty parameter list");
}

void Optimizer::check_options(const OptionMap& options) const {
  for (const auto& [name, value] : options)
    if (defaults_.find(name) == defaults_.end()) throw_error<InvalidArgument>("optim.add_param_group", "unknown option '{}'", name);
}

void Optimizer::add_param_group(ParamGroup group) {
  check_options(group.options);
  if (group.params.empty()) throw_error<InvalidArgument>("optim.add_param_group", "optimizer got an empty parameter list");
  group.options.insert(defaults_.begin(), defaults_.end());
  for (const Tensor& param : group.params) {
    if (!param.is_leaf()) throw_error<InvalidArgument>("optim.add_param_group", "can't optimize a non-leaf Tensor");
    for (const ParamGroup& other : groups_)
      if (std::any_of(other.params.begin(), other.params.end(), [&](const Tensor& known) { return known.is_same(param); }))
        throw_error<InvalidArgument>("optim.add_param_group", "some parameters appear in more than one parameter group");
  }
  groups_.push_back(std::move(group));
}

void Optimizer::step() {
  const record::NamedScope scope(step_name_);
  NoGradGuard no_grad;
  const bool marks = record::wants(record::kMemory);
  for (const ParamGroup& group : groups_)
    for (const Tensor& param : group.params) {
      if (marks) mark(param, trace::MemoryCategory::kParameter);
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      ParamState& state = state_[param.impl()];
      ++state.step;
      update(group.options, param, grad, state);
      if (!marks) continue;
      for (const auto& [name, tensor] : state.tensors) mark(tensor, trace::MemoryCategory::kOptimizerState);
    }
}

Tensor Optimizer::step(const std::function<Tensor()>& closure) {
  const Tensor loss = [&] {
    EnableGradGuard grad_mode;
    return closure();
  }();
  step();
  return loss;
}

void Optimizer::zero_grad(bool set_to_none) {
  const record::NamedScope scope(zero_grad_name_);
  for (const ParamGroup& group : groups_)
    for (const Tensor& param : group.params) {
      if (!param.grad().defined()) continue;
      if (set_to_none)
        param.set_grad({});
      else
        param.grad().detach().zero_();
    }
}

Tensor Optimizer::state_tensor(ParamState& state, std::string_view name, const std::function<Tensor()>& make) {
  const auto found = state.tensors.find(name);
  if (found != state.tensors.end()) return found->second;
  return state.tensors.emplace(name, make()).first->second;
}

Tensor Optimizer::adjusted_gradient(const OptionMap& options, const Tensor& param, const Tensor& grad) {
  const Tensor signed_grad = options.at("maximize") != 0 ? grad.neg() : grad;
  const double decay = options.at("weight_decay");
  return decay != 0 ? signed_grad.add(param, decay) : signed_grad;
}

OptimizerStateDict Optimizer::state_dict() const {
  OptimizerStateDict dict;
  std::int64_t number = 0;
  for (const ParamGroup& group : groups_) {
    OptimizerStateDict::Group& saved = dict.param_groups.emplace_back();
    saved.options = group.options;
    for (const Tensor& param : group.params) {
      if (const auto found = state_.find(param.impl()); found != state_.end()) dict.state[number] = found->second;
      saved.params.push_back(number++);
    }
  }
  return dict;
}

void Optimizer::load_state_dict(const OptimizerStateDict& dict) {
  if (dict.param_groups.empty() && dict.state.empty()) return;
  if (dict.param_groups.size() != groups_.size())
    throw_error<InvalidArgument>("optim.load_state_dict", "loaded state dict has a different number of parameter groups: {}, expected {}",
                                 dict.param_groups.size(), groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (dict.param_groups[g].params.size() != groups_[g].params.size())
      throw_error<InvalidArgument>("optim.load_state_dict",
                                   "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group "
                                   "{} has {} parameters, expected {}",
                                   g, dict.param_groups[g].params.size(), groups_[g].params.size());
    check_options(dict.param_groups[g].options);
  }
  NoGradGuard no_grad;
  std::unordered_map<const TensorImpl*, ParamState> loaded;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t p = 0; p < groups_[g].params.size(); ++p) {
      const auto found = dict.state.find(dict.param_groups[g].params[p]);
      if (found == dict.state.end()) continue;
      const Tensor& param = groups_[g].params[p];
      ParamState& state = loaded[param.impl()];
      state.step = found->second.step;
      for (const auto& [name, tensor] : found->second.tensors) state.tensors[name] = tensor.to(param.device(), param.dtype(), true);
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const auto& [name, value] : dict.param_groups[g].options) groups_[g].options[name] = value;
  state_ = std::move(loaded);
}

}  // namespace mindtorch::optim
