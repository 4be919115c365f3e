// TensorImpl: the geometry, type, device and storage of a tensor, and the data that autograd keeps for it. Users hold a Tensor.
#pragma once

#include <cstdint>
#include <memory>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dim_vector.h"
#include "mindtorch/runtime/dispatch/dispatch_key.h"
#include "mindtorch/runtime/intrusive_ptr.h"
#include "mindtorch/runtime/scalar_type.h"
#include "mindtorch/runtime/storage.h"

namespace mindtorch {

namespace autograd {
struct AutogradMeta;
}

// Tensors with more dimensions are refused, so that kernels can keep their loop counters on the stack.
inline constexpr std::size_t kMaxDims = 16;

class MINDTORCH_EXPORT TensorImpl : public RefCounted {
 public:
  // A contiguous tensor at the start of `storage`.
  TensorImpl(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes);
  // A view of part of `storage`. `base` is the tensor that it is a view of, which in-place operations need. It may be null.
  TensorImpl(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset,
             IntrusivePtr<TensorImpl> base);
  ~TensorImpl();

  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  std::int64_t numel() const { return numel_; }
  std::int64_t storage_offset() const { return offset_; }
  ScalarType dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  bool is_contiguous() const { return contiguous_; }
  const IntrusivePtr<Storage>& storage() const { return storage_; }
  // The address of the first element; null if the tensor has no elements.
  void* data() const { return static_cast<char*>(storage_->data()) + offset_ * static_cast<std::int64_t>(element_size(dtype_)); }

  // Backend key, and the autograd key if calls with this tensor may need gradients.
  DispatchKeySet keys() const { return keys_; }

  // True for a zero-dimensional tensor made from a number. Type promotion treats it like the number.
  bool is_wrapped_number() const { return wrapped_number_; }
  void set_wrapped_number() { wrapped_number_ = true; }

  // The tensor this is a view of (never itself a view), or null.
  const IntrusivePtr<TensorImpl>& base() const { return base_; }
  // True for a view made while gradients were switched off: it must not be changed in place when they are on.
  bool is_no_grad_view() const { return no_grad_view_; }
  // Views: the storage version up to which their history accounts for the writes to the memory they share.
  std::uint32_t view_version() const { return view_version_; }
  void set_view_version(std::uint32_t version) { view_version_ = version; }

  autograd::AutogradMeta* autograd_meta() const { return autograd_.get(); }
  autograd::AutogradMeta& ensure_autograd_meta();
  // Updates keys(). Called when requires_grad or grad_fn change.
  void set_autograd_key(bool on);

  // The object that represents this tensor in another language, or null. It is not owned. The lock of that language guards it.
  void* foreign_object() const { return foreign_object_; }
  void set_foreign_object(void* object) { foreign_object_ = object; }

  // Replaces storage and geometry (set_data, detach_). The data of autograd does not change.
  void replace(IntrusivePtr<Storage> storage, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset);
  // Autograd no longer treats the tensor as a view.
  void forget_base();

 private:
  void refresh_geometry();

  IntrusivePtr<Storage> storage_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  DispatchKeySet keys_;
  ScalarType dtype_;
  bool contiguous_ = true;
  bool wrapped_number_ = false;
  bool no_grad_view_ = false;
  std::uint32_t view_version_ = 0;
  std::unique_ptr<autograd::AutogradMeta> autograd_;
  IntrusivePtr<TensorImpl> base_;
  void* foreign_object_ = nullptr;
  DimVector sizes_;
  DimVector strides_;
};

// Strides of a contiguous tensor of these sizes.
MINDTORCH_EXPORT DimVector contiguous_strides(IntArrayRef sizes);
// Number of elements. Throws if it does not fit or a size is negative.
MINDTORCH_EXPORT std::int64_t checked_numel(IntArrayRef sizes);

}  // namespace mindtorch
