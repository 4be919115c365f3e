// TensorImpl: construction and geometry.
#include "mindtorch/runtime/tensor_impl.h"

#include <limits>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/autograd/variable.h"

namespace mindtorch {

namespace {

bool is_contiguous_geometry(IntArrayRef sizes, IntArrayRef strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

}  // namespace

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides;
  strides.resize(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}

std::int64_t checked_numel(IntArrayRef sizes) {
  std::int64_t numel = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw_error("runtime.sizes", "Trying to create tensor with negative dimension {}: {}", size, to_string(sizes));
    if (__builtin_mul_overflow(numel, size, &numel) || numel > std::numeric_limits<std::int64_t>::max() / 8)
      throw_error("runtime.sizes", "the number of elements of sizes {} does not fit in 64 bits", to_string(sizes));
  }
  return numel;
}

TensorImpl::TensorImpl(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes)
    : storage_(std::move(storage)), keys_(backend_key(storage_->device().type)), dtype_(dtype), sizes_(sizes) {
  strides_.resize(sizes.size());
  numel_ = 1;
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
    numel_ *= sizes[i];
  }
}

TensorImpl::TensorImpl(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset,
                       IntrusivePtr<TensorImpl> base)
    : storage_(std::move(storage)),
      offset_(offset),
      keys_(backend_key(storage_->device().type)),
      dtype_(dtype),
      no_grad_view_(base && !GradMode::is_enabled()),
      base_(std::move(base)),
      sizes_(sizes),
      strides_(strides) {
  if (sizes.size() > kMaxDims) throw_error("runtime.sizes", "tensors have at most {} dimensions, got {}", kMaxDims, sizes.size());
  refresh_geometry();
  view_version_ = storage_->version();
  // A view may come to require a gradient through its base, so calls with a view always check.
  if (base_) set_autograd_key(true);
}

TensorImpl::~TensorImpl() = default;

void TensorImpl::refresh_geometry() {
  numel_ = 1;
  for (const std::int64_t size : sizes_) numel_ *= size;
  contiguous_ = is_contiguous_geometry(sizes_, strides_);
}

autograd::AutogradMeta& TensorImpl::ensure_autograd_meta() {
  if (!autograd_) autograd_ = std::make_unique<autograd::AutogradMeta>();
  return *autograd_;
}

void TensorImpl::set_autograd_key(bool on) {
  const DispatchKeySet key = autograd_key(device().type);
  keys_ = on || base_ ? keys_ | key : keys_ - key;
}

void TensorImpl::replace(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  const bool needs_autograd = keys_.has_any(kAutogradKeys);
  storage_ = std::move(storage);
  dtype_ = dtype;
  sizes_.assign(sizes);
  strides_.assign(strides);
  offset_ = offset;
  keys_ = DispatchKeySet(backend_key(storage_->device().type));
  refresh_geometry();
  set_autograd_key(needs_autograd);
}

void TensorImpl::forget_base() {
  base_.reset();
  no_grad_view_ = false;
  set_autograd_key(autograd_ != nullptr);
}

}  // namespace mindtorch
