// Modules made of a list of modules, which they own.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

// A list of modules. Children are named by their index.
class MINDTORCH_EXPORT ModuleList : public Module {
 public:
  // Appends a new module: list.add<nn::Linear>(128, 10).
  template <class M, class... Args>
  M& add(Args&&... args) {
    auto module = std::make_shared<M>(std::forward<Args>(args)...);
    M& made = *module;
    append(std::move(module));
    return made;
  }
  void append(std::shared_ptr<Module> module) { register_module(std::to_string(size()), std::move(module)); }

  std::size_t size() const { return children().size(); }
  Module& operator[](std::size_t index) const {
    const std::vector<Module*> list = children();
    if (index >= list.size())
      throw_error<OutOfRange>("nn.ModuleList", "index {} is out of range: there are {} modules", index, list.size());
    return *list[index];
  }
};

// A list whose modules are called one after the other.
class MINDTORCH_EXPORT Sequential : public ModuleList {
 public:
  Tensor forward(const Tensor& input) override {
    Tensor value = input;
    for (Module* module : children()) value = (*module)(value);
    return value;
  }
};

}  // namespace mindtorch::nn
