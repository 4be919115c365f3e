// Modules: their tree, and their calls.
#include "mindtorch/runtime/nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <typeinfo>
#include <unordered_set>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::nn {

namespace {

// "Linear_3": modules of one class are counted in the order in which they are first recorded.
record::NameId next_event_name(const std::string& type) {
  static std::mutex mutex;
  static auto* counts = new std::map<std::string, int>();
  std::lock_guard lock(mutex);
  return record::intern(fmt::format("nn.Module: {}_{}", type, (*counts)[type]++));
}

std::string joined(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + "." + name; }

}  // namespace

// ---- calls ----

Tensor Module::forward(const Tensor&) {
  throw_error("nn.forward", "Module [{}] is missing the required \"forward\" function", type_name());
}

Tensor Module::operator()(const Tensor& input) {
  if (!is_observed()) [[likely]]
    return forward(input);
  return call({input}, [this](const TensorVector& inputs) { return forward(inputs[0]); });
}

record::NamedScope Module::open_scope() {
  if (record::wants(record::kMemory))
    for (const OwnTensor& own : parameters_)
      if (own.tensor.defined()) record::record_memory_category(own.tensor.storage()->data(), trace::MemoryCategory::kParameter);
  if ((record::current_state() & record::kModuleCalls) == 0) return {};
  record::NameId name = event_name_.load(std::memory_order_relaxed);
  if (name == 0) {
    const record::NameId fresh = next_event_name(type_name());
    if (event_name_.compare_exchange_strong(name, fresh)) name = fresh;
  }
  return record::NamedScope::module(name);
}

TensorVector Module::run_pre_hooks(TensorVector inputs) {
  for (std::size_t i = 0; i < pre_hooks_.size(); ++i) {
    const ForwardPreHook hook = pre_hooks_[i].hook;  // a hook may remove itself
    if (TensorVector replaced = hook(*this, inputs); !replaced.empty()) inputs = std::move(replaced);
  }
  return inputs;
}

void Module::run_hooks(const TensorVector& inputs, Tensor& output) {
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    const ForwardHook hook = hooks_[i].hook;
    if (Tensor replaced = hook(*this, inputs, output); replaced.defined()) output = std::move(replaced);
  }
}

std::uint64_t Module::register_forward_pre_hook(ForwardPreHook hook) {
  pre_hooks_.push_back({next_hook_, std::move(hook)});
  return next_hook_++;
}

std::uint64_t Module::register_forward_hook(ForwardHook hook) {
  hooks_.push_back({next_hook_, std::move(hook)});
  return next_hook_++;
}

void Module::remove_hook(std::uint64_t id) {
  std::erase_if(pre_hooks_, [id](const auto& registered) { return registered.id == id; });
  std::erase_if(hooks_, [id](const auto& registered) { return registered.id == id; });
}

// ---- the tree ----

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), &std::free);
  std::string_view name = status == 0 ? demangled.get() : typeid(*this).name();
  name = name.substr(0, name.find('<'));
  const std::size_t colon = name.rfind(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

void Module::check_name(std::string_view name) const {
  if (name.empty() || name.find('.') != std::string_view::npos)
    throw_error<InvalidArgument>("nn.register", "a name can't be empty or contain \".\", got '{}'", name);
  const auto is_taken = [name](const auto& list) {
    return std::any_of(list.begin(), list.end(), [name](const auto& item) { return item.name == name; });
  };
  if (is_taken(parameters_) || is_taken(buffers_) || is_taken(children_))
    throw_error<InvalidArgument>("nn.register", "attribute '{}' already exists in {}", name, type_name());
}

Tensor Module::register_parameter(std::string name, Tensor parameter) {
  check_name(name);
  if (parameter.defined()) parameter.requires_grad_();
  parameters_.push_back({std::move(name), parameter});
  return parameter;
}

Tensor Module::register_buffer(std::string name, Tensor buffer, bool persistent) {
  check_name(name);
  buffers_.push_back({std::move(name), buffer, persistent});
  return buffer;
}

void Module::register_module(std::string name, Module& child) {
  register_module(std::move(name), std::shared_ptr<Module>(std::shared_ptr<void>(), &child));
}

void Module::register_module(std::string name, std::shared_ptr<Module> child) {
  check_name(name);
  if (child == nullptr) throw_error<InvalidArgument>("nn.register_module", "'{}' is null", name);
  children_.push_back({std::move(name), std::move(child)});
}

std::vector<Module*> Module::children() const {
  std::vector<Module*> found;
  for (const Child& child : children_) found.push_back(child.module.get());
  return found;
}

std::vector<std::pair<std::string, Module*>> Module::named_children() const {
  std::vector<std::pair<std::string, Module*>> found;
  for (const Child& child : children_) found.emplace_back(child.name, child.module.get());
  return found;
}

void Module::collect_modules(const std::string& prefix, std::vector<std::pair<std::string, Module*>>& found) {
  const bool is_known = std::any_of(found.begin(), found.end(), [this](const auto& item) { return item.second == this; });
  if (is_known) return;
  found.emplace_back(prefix, this);
  for (const Child& child : children_) child.module->collect_modules(joined(prefix, child.name), found);
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() {
  std::vector<std::pair<std::string, Module*>> found;
  collect_modules("", found);
  return found;
}

std::vector<Module*> Module::modules() {
  std::vector<Module*> found;
  for (const auto& [name, module] : named_modules()) found.push_back(module);
  return found;
}

NamedTensors Module::collect(std::vector<OwnTensor> Module::*tensors, bool only_persistent) const {
  NamedTensors found;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& [prefix, module] : const_cast<Module*>(this)->named_modules())
    for (const OwnTensor& own : module->*tensors)
      if (own.tensor.defined() && (own.persistent || !only_persistent) && seen.insert(own.tensor.impl()).second)
        found.emplace_back(joined(prefix, own.name), own.tensor);
  return found;
}

NamedTensors Module::named_parameters() const { return collect(&Module::parameters_, false); }
NamedTensors Module::named_buffers() const { return collect(&Module::buffers_, false); }

TensorVector Module::parameters() const {
  TensorVector found;
  for (const auto& [name, tensor] : named_parameters()) found.push_back(tensor);
  return found;
}

TensorVector Module::buffers() const {
  TensorVector found;
  for (const auto& [name, tensor] : named_buffers()) found.push_back(tensor);
  return found;
}

void Module::apply(const std::function<void(Module&)>& function) {
  for (const Child& child : children_) child.module->apply(function);
  function(*this);
}

void Module::train(bool on) {
  apply([on](Module& module) { module.training_ = on; });
}

// ---- tensors ----

void Module::convert_tensors(const std::function<Tensor(const Tensor&)>& convert) {
  NoGradGuard no_grad;
  const auto replace = [&](const Tensor& tensor) {
    const Tensor converted = convert(tensor);
    if (converted.storage() == tensor.storage()) return;
    tensor.impl()->replace(converted.storage(), converted.dtype(), converted.sizes(), converted.strides(), converted.storage_offset());
  };
  for (const Tensor& parameter : parameters()) {
    replace(parameter);
    if (parameter.grad().defined()) parameter.set_grad(convert(parameter.grad()));
  }
  for (const Tensor& buffer : buffers()) replace(buffer);
}

void Module::to(Device device) {
  convert_tensors([device](const Tensor& tensor) { return tensor.detach().to(device); });
}

void Module::to(ScalarType dtype) {
  if (!is_floating_point(dtype))
    throw_error<TypeMismatch>("nn.to", "nn.Module.to only accepts floating point dtypes, but got {}", dtype_name(dtype));
  convert_tensors([dtype](const Tensor& tensor) { return tensor.is_floating_point() ? tensor.detach().to(dtype) : tensor.detach(); });
}

void Module::requires_grad_(bool requires_grad) {
  for (const Tensor& parameter : parameters()) parameter.requires_grad_(requires_grad);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (!parameter.grad().defined()) continue;
    if (set_to_none)
      parameter.set_grad({});
    else
      parameter.grad().detach().zero_();
  }
}

StateDict Module::state_dict() const {
  StateDict state;
  for (const auto& [prefix, module] : const_cast<Module*>(this)->named_modules())
    for (const auto* list : {&module->parameters_, &module->buffers_})
      for (const OwnTensor& own : *list)
        if (own.tensor.defined() && own.persistent) state.emplace_back(joined(prefix, own.name), own.tensor.detach());
  return state;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  std::map<std::string_view, const Tensor*> given;
  for (const auto& [name, tensor] : state) given[name] = &tensor;
  const StateDict own = state_dict();
  std::string missing, unexpected, mismatched;
  const auto list = [](std::string& text, std::string_view name) { text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name); };
  std::vector<std::pair<const Tensor*, const Tensor*>> copies;
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end()) {
      list(missing, name);
      continue;
    }
    if (found->second->sizes() != tensor.sizes())
      mismatched +=
          fmt::format("\n\tsize mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}.", name,
                      to_string(found->second->sizes()), to_string(tensor.sizes()));
    copies.emplace_back(&tensor, found->second);
    given.erase(found);
  }
  for (const auto& [name, tensor] : given) list(unexpected, name);
  std::string problems;
  if (strict && !missing.empty()) problems += fmt::format("\n\tMissing key(s) in state_dict: {}. ", missing);
  if (strict && !unexpected.empty()) problems += fmt::format("\n\tUnexpected key(s) in state_dict: {}. ", unexpected);
  problems += mismatched;
  if (!problems.empty()) throw_error("nn.load_state_dict", "Error(s) in loading state_dict for {}:{}", type_name(), problems);
  NoGradGuard no_grad;
  for (const auto& [to, from] : copies) to->copy_(*from);
}

}  // namespace mindtorch::nn
