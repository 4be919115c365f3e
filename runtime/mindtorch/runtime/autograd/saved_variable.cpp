// SavedVariable: saving, and the checks of unpacking.
#include "mindtorch/runtime/autograd/saved_variable.h"

#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch::autograd {

namespace {

[[noreturn]] void fail_changed(const Tensor& tensor, const Node* made_by, std::uint32_t output_nr, std::uint32_t found,
                               std::uint32_t expected) {
  const std::string origin = made_by != nullptr ? fmt::format(", which is output {} of {},", output_nr, made_by->name()) : ",";
  throw_error("autograd.backward",
              "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.{}Tensor {}]{} is at "
              "version {}; "
              "expected version {} instead.",
              scalar_type_title(tensor.dtype()), to_string(tensor.sizes()), origin, found, expected);
}

}  // namespace

SavedVariable::SavedVariable(const Tensor& tensor, bool is_output) : is_output_(is_output) {
  if (!tensor.defined()) return;
  version_ = tensor.version();
  output_nr_ = tensor.output_nr();
  tensor_ = is_output ? alias_without_history(tensor) : tensor;
}

Tensor SavedVariable::unpack(Node* owner) const {
  if (released_)
    throw_error(
        "autograd.backward",
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved "
        "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after calling backward.");
  if (!tensor_.defined()) return {};
  if (tensor_.version() != version_) {
    const NodePtr made_by = is_output_ ? NodePtr(owner) : tensor_.grad_fn();
    fail_changed(tensor_, made_by.get(), output_nr_, tensor_.version(), version_);
  }
  if (!is_output_) return tensor_;
  Tensor output = alias_without_history(tensor_);
  AutogradMeta& meta = output.impl()->ensure_autograd_meta();
  meta.grad_fn = NodePtr(owner);
  meta.output_nr = output_nr_;
  output.impl()->set_autograd_key(true);
  return output;
}

void SavedVariable::release() {
  if (tensor_.defined()) released_ = true;
  tensor_.reset();
}

}  // namespace mindtorch::autograd
