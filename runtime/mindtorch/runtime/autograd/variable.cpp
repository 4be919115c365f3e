// How tensors are connected to the graph.
#include "mindtorch/runtime/autograd/variable.h"

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/autograd/accumulate_grad.h"
#include "mindtorch/runtime/autograd/copy_slices.h"
#include "mindtorch/runtime/autograd/formula.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch::autograd {

namespace {

bool has_history(const TensorImpl& impl) {
  const AutogradMeta* meta = impl.autograd_meta();
  return meta != nullptr && (meta->requires_grad || meta->grad_fn);
}

// The history of a view whose base was written to later: its gradient is a part of the gradient of the base.
void refresh_view_history(TensorImpl& view) {
  const IntrusivePtr<TensorImpl>& base = view.base();
  const std::uint32_t version = view.storage()->version();
  if (view.view_version() == version) return;
  view.set_view_version(version);
  if (!has_history(*base)) return;
  EnableGradGuard grad_mode;
  const Tensor as_part = Tensor(base).as_strided(view.sizes(), view.strides(), view.storage_offset());
  AutogradMeta& meta = view.ensure_autograd_meta();
  meta.grad_fn = as_part.impl()->autograd_meta()->grad_fn;
  meta.output_nr = 0;
  meta.requires_grad = false;
}

NodePtr gradient_accumulator(const Tensor& leaf) {
  AutogradMeta& meta = leaf.impl()->ensure_autograd_meta();
  std::lock_guard lock(meta.mutex);
  if (meta.accumulator != nullptr && meta.accumulator->try_retain()) return NodePtr::adopt(meta.accumulator);
  NodePtr made = make_intrusive<AccumulateGrad>(leaf);
  meta.accumulator = made.get();
  return made;
}

}  // namespace

bool requires_grad(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  if (impl.base()) refresh_view_history(impl);
  return has_history(impl);
}

NodePtr grad_fn(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  if (impl.base()) refresh_view_history(impl);
  return impl.autograd_meta() != nullptr ? impl.autograd_meta()->grad_fn : nullptr;
}

Edge gradient_edge(const Tensor& tensor) {
  if (NodePtr function = grad_fn(tensor)) return {std::move(function), tensor.impl()->autograd_meta()->output_nr};
  const AutogradMeta* meta = tensor.impl()->autograd_meta();
  if (meta == nullptr || !meta->requires_grad) return {};
  return {gradient_accumulator(tensor), 0};
}

void set_history(const Tensor& output, const NodePtr& node) {
  const std::uint32_t slot = node->add_input_metadata(output);
  if (!output.defined()) return;
  if (!output.is_floating_point()) throw_error(node->name(), "Autograd not support dtype: {}", scalar_type_title(output.dtype()));
  AutogradMeta& meta = output.impl()->ensure_autograd_meta();
  meta.grad_fn = node;
  meta.output_nr = slot;
  output.impl()->set_autograd_key(true);
  record::record_memory_category(output.storage()->data(), trace::MemoryCategory::kActivation);
}

void rebase_history(const Tensor& self, const NodePtr& node) {
  TensorImpl& impl = *self.impl();
  if (impl.base()) {
    const Tensor base(impl.base());
    node->add_input_metadata(self);
    auto slices = make_intrusive<CopySlices>(base, self, node);
    AutogradMeta& meta = base.impl()->ensure_autograd_meta();
    meta.grad_fn = slices;
    meta.output_nr = 0;
    base.impl()->set_autograd_key(true);
    impl.set_view_version(impl.storage()->version() - 1);  // its own history is that of the base from now on
    return;
  }
  const std::shared_ptr<Tensor> retained = impl.autograd_meta() != nullptr ? impl.autograd_meta()->retained_grad : nullptr;
  set_history(self, node);
  if (retained) node->retained_grads().push_back({impl.autograd_meta()->output_nr, retained});
}

void announce_write(const Tensor& self, std::string_view op) {
  TensorImpl& impl = *self.impl();
  const bool is_differentiated = GradMode::is_enabled() && !dispatch_thread_state.excluded.has_any(kAutogradKeys);
  if (is_differentiated && requires_grad(self)) {
    if (self.is_leaf()) throw_error(op, "a leaf Variable that requires grad is being used in an in-place operation.");
    if (impl.base() && has_history(*impl.base()) && !impl.base()->autograd_meta()->grad_fn)
      throw_error(op, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  impl.storage()->bump_version();
  if (impl.base()) impl.set_view_version(impl.storage()->version());
}

void check_differentiable_write(const Tensor& self, std::string_view op) {
  if (self.impl()->is_no_grad_view())
    throw_error(op,
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is "
                "ambiguous and "
                "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
                "no_grad block "
                "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
  if (!self.is_floating_point())
    throw_error(op, "result of a differentiable operation cannot be stored in a tensor of type {}", dtype_name(self.dtype()));
}

void fail_no_derivative(const OpBase& op) {
  throw_error(op.schema().name, "derivative for {} is not implemented", op.schema().full_name());
}

Tensor copy_of(const Tensor& self) { return self.clone(); }

}  // namespace mindtorch::autograd
