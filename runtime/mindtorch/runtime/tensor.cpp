// Tensor: accessors that are too long for the header, and autograd.
#include "mindtorch/runtime/tensor.h"

#include <atomic>

#include "mindtorch/runtime/autograd/engine.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch {

std::int64_t Tensor::size(std::int64_t d) const {
  if (dim() == 0) throw_error<OutOfRange>("Tensor.size", "Dimension specified as {} but tensor has no dimensions", d);
  return sizes()[wrap_dim(d, dim(), "Tensor.size")];
}

std::int64_t Tensor::stride(std::int64_t d) const {
  if (dim() == 0) throw_error<OutOfRange>("Tensor.stride", "Dimension specified as {} but tensor has no dimensions", d);
  return strides()[wrap_dim(d, dim(), "Tensor.stride")];
}

void Tensor::fail_data_type(ScalarType asked) const {
  throw_error<TypeMismatch>("Tensor.data_ptr", "expected scalar type {} but found {}", scalar_type_title(asked),
                            scalar_type_title(dtype()));
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor host = detach().to(Device(), scalar_type_of<T>).contiguous();
  const T* values = host.data_ptr<T>();
  return std::vector<T>(values, values + host.numel());
}
template std::vector<float> Tensor::to_vector<float>() const;
template std::vector<double> Tensor::to_vector<double>() const;
template std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;
template std::vector<std::int32_t> Tensor::to_vector<std::int32_t>() const;
template std::vector<std::uint8_t> Tensor::to_vector<std::uint8_t>() const;
template std::vector<bool> Tensor::to_vector<bool>() const;

bool Tensor::requires_grad() const { return autograd::requires_grad(*this); }

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  if (requires_grad && !is_floating_point())
    throw_error("Tensor.requires_grad_", "only Tensors of floating point dtype can require gradients, got {}", dtype_name(dtype()));
  if (!is_leaf()) {
    if (!requires_grad)
      throw_error("Tensor.requires_grad_",
                  "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
                  "that doesn't require differentiation use var_no_grad = var.detach().");
    return *this;
  }
  if (!requires_grad && impl_->autograd_meta() == nullptr) return *this;
  impl_->ensure_autograd_meta().requires_grad = requires_grad;
  impl_->set_autograd_key(requires_grad);
  return *this;
}

bool Tensor::is_leaf() const { return !autograd::grad_fn(*this); }
IntrusivePtr<autograd::Node> Tensor::grad_fn() const { return autograd::grad_fn(*this); }

std::uint32_t Tensor::output_nr() const {
  const autograd::AutogradMeta* meta = impl_->autograd_meta();
  return meta != nullptr ? meta->output_nr : 0;
}

const Tensor& Tensor::grad() const {
  static const Tensor none;
  const autograd::AutogradMeta* meta = impl_->autograd_meta();
  if (meta == nullptr) return none;
  return meta->retained_grad ? *meta->retained_grad : meta->grad;
}

void Tensor::set_grad(Tensor grad) const {
  if (grad.defined() && grad.sizes() != sizes())
    throw_error("Tensor.grad", "assigned grad has data of a different size: {} for a tensor of {}", to_string(grad.sizes()),
                to_string(sizes()));
  autograd::AutogradMeta& meta = impl_->ensure_autograd_meta();
  (meta.retained_grad ? *meta.retained_grad : meta.grad) = std::move(grad);
}

void Tensor::retain_grad() const {
  if (!requires_grad()) throw_error("Tensor.retain_grad", "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf() || retains_grad()) return;
  autograd::AutogradMeta& meta = impl_->ensure_autograd_meta();
  meta.retained_grad = std::make_shared<Tensor>();
  grad_fn()->retained_grads().push_back({meta.output_nr, meta.retained_grad});
}

bool Tensor::retains_grad() const { return impl_->autograd_meta() != nullptr && impl_->autograd_meta()->retained_grad != nullptr; }

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  autograd::backward(*this, gradient.defined() ? TensorList(gradient) : TensorList(), retain_graph, create_graph);
}

std::uint64_t Tensor::register_hook(Hook hook) const {
  static std::atomic<std::uint64_t> next_id{1};
  if (!requires_grad()) throw_error("Tensor.register_hook", "cannot register a hook on a tensor that doesn't require gradient");
  const std::uint64_t id = next_id.fetch_add(1, std::memory_order_relaxed);
  autograd::AutogradMeta& meta = impl_->ensure_autograd_meta();
  if (const autograd::NodePtr node = grad_fn())
    node->tensor_hooks().push_back({meta.output_nr, id, std::move(hook)});
  else
    meta.leaf_hooks.push_back({0, id, std::move(hook)});
  return id;
}

void Tensor::remove_hook(std::uint64_t id) const {
  const auto has_id = [id](const autograd::Node::TensorHook& hook) { return hook.id == id; };
  if (const autograd::NodePtr node = grad_fn()) std::erase_if(node->tensor_hooks(), has_id);
  if (impl_->autograd_meta() != nullptr) std::erase_if(impl_->autograd_meta()->leaf_hooks, has_id);
}

}  // namespace mindtorch
