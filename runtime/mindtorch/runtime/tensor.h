// Tensor: the handle that users hold. A copy refers to the same tensor. Methods call the functions of the same name (runtime/functions.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dim_vector.h"
#include "mindtorch/runtime/scalar.h"
#include "mindtorch/runtime/tensor_impl.h"
#include "mindtorch/runtime/tensor_options.h"

namespace mindtorch {

class Tensor;
namespace autograd {
class Node;
}

using TensorVector = std::vector<Tensor>;
using OptionalTensor = std::optional<Tensor>;

// A view of tensors that also accepts a braced list. A braced list lives as long as the call that it is an argument of.
class TensorList {
 public:
  TensorList() = default;
  TensorList(const Tensor* data, std::size_t size) : data_(data), size_(size) {}
  inline TensorList(const Tensor& tensor);
  inline TensorList(std::initializer_list<Tensor> list);
  inline TensorList(const TensorVector& tensors);
  const Tensor* begin() const { return data_; }
  inline const Tensor* end() const;
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  inline const Tensor& operator[](std::size_t i) const;

 private:
  const Tensor* data_ = nullptr;
  std::size_t size_ = 0;
};

class MINDTORCH_EXPORT Tensor {
 public:
  // An undefined tensor. All methods except defined() need a defined tensor.
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const IntrusivePtr<TensorImpl>& impl_ptr() const { return impl_; }
  void reset() { impl_.reset(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  std::uint32_t use_count() const { return impl_ ? impl_->use_count() : 0; }

  // Geometry, type and place.
  IntArrayRef sizes() const { return impl_->sizes(); }
  IntArrayRef strides() const { return impl_->strides(); }
  std::int64_t size(std::int64_t dim) const;  // a negative dim counts from the end
  std::int64_t stride(std::int64_t dim) const;
  std::int64_t dim() const { return impl_->dim(); }
  std::int64_t numel() const { return impl_->numel(); }
  std::int64_t storage_offset() const { return impl_->storage_offset(); }
  ScalarType dtype() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_floating_point() const { return mindtorch::is_floating_point(dtype()); }
  bool is_contiguous() const { return impl_->is_contiguous(); }
  std::size_t element_size() const { return mindtorch::element_size(dtype()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
  TensorOptions options() const { return {.dtype = dtype(), .device = device()}; }

  // Memory. The host must not dereference a pointer to device memory.
  void* data_ptr() const { return impl_->data(); }
  template <class T>
  T* data_ptr() const {
    if (scalar_type_of<T> != dtype()) fail_data_type(scalar_type_of<T>);
    return static_cast<T*>(impl_->data());
  }
  const IntrusivePtr<Storage>& storage() const { return impl_->storage(); }
  std::uint32_t version() const { return impl_->storage()->version(); }

  // Autograd.
  bool requires_grad() const;
  const Tensor& requires_grad_(bool requires_grad = true) const;
  bool is_leaf() const;
  const Tensor& grad() const;  // undefined if there is no gradient
  void set_grad(Tensor grad) const;
  IntrusivePtr<autograd::Node> grad_fn() const;
  std::uint32_t output_nr() const;
  void retain_grad() const;
  bool retains_grad() const;
  bool is_view() const { return static_cast<bool>(impl_->base()); }
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false) const;
  // The hook is called with the gradient of this tensor; a defined result replaces the gradient. Returns an id for remove_hook().
  using Hook = std::function<Tensor(const Tensor&)>;
  std::uint64_t register_hook(Hook hook) const;
  void remove_hook(std::uint64_t id) const;

  // Values on the host. These functions wait for the device.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  template <class T>
  std::vector<T> to_vector() const;  // all elements, row by row, converted to T

  // Arithmetic. A trailing underscore means in place; the tensor itself is returned.
  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor add_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor mul(const Scalar& other) const;
  Tensor mul_(const Tensor& other) const;
  Tensor mul_(const Scalar& other) const;
  Tensor div(const Tensor& other) const;
  Tensor div(const Scalar& other) const;
  Tensor div_(const Tensor& other) const;
  Tensor div_(const Scalar& other) const;
  Tensor neg() const;
  Tensor neg_() const;
  Tensor reciprocal() const;
  Tensor reciprocal_() const;

  // Functions of one element.
  Tensor abs() const;
  Tensor abs_() const;
  Tensor sign() const;
  Tensor sign_() const;
  Tensor relu() const;
  Tensor relu_() const;
  Tensor floor() const;
  Tensor floor_() const;
  Tensor ceil() const;
  Tensor ceil_() const;
  Tensor round() const;
  Tensor round_() const;
  Tensor trunc() const;
  Tensor trunc_() const;
  Tensor exp() const;
  Tensor exp_() const;
  Tensor expm1() const;
  Tensor expm1_() const;
  Tensor log() const;
  Tensor log_() const;
  Tensor log1p() const;
  Tensor log1p_() const;
  Tensor log2() const;
  Tensor log2_() const;
  Tensor sqrt() const;
  Tensor sqrt_() const;
  Tensor rsqrt() const;
  Tensor rsqrt_() const;
  Tensor sin() const;
  Tensor sin_() const;
  Tensor cos() const;
  Tensor cos_() const;
  Tensor tanh() const;
  Tensor tanh_() const;
  Tensor sigmoid() const;
  Tensor sigmoid_() const;
  Tensor erf() const;
  Tensor erf_() const;
  Tensor square() const;
  Tensor logical_not() const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isfinite() const;

  // Comparisons and choices.
  Tensor eq(const Tensor& other) const;
  Tensor eq(const Scalar& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor ne(const Scalar& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor lt(const Scalar& other) const;
  Tensor le(const Tensor& other) const;
  Tensor le(const Scalar& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor gt(const Scalar& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor ge(const Scalar& other) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor masked_fill_(const Tensor& mask, const Scalar& value) const;
  Tensor clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) const;
  Tensor clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) const;
  Tensor clamp_min(const Scalar& min) const;
  Tensor clamp_max(const Scalar& max) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor pow_(const Scalar& exponent) const;
  Tensor addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
  Tensor addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
  Tensor lerp_(const Tensor& end, const Scalar& weight) const;

  // Reductions.
  Tensor sum(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor sum(IntArrayRef dims, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(IntArrayRef dims, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const;

  Tensor prod(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor prod(std::int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor var(std::optional<IntArrayRef> dims = std::nullopt, const std::optional<Scalar>& correction = 1, bool keepdim = false) const;
  Tensor std(std::optional<IntArrayRef> dims = std::nullopt, const std::optional<Scalar>& correction = 1, bool keepdim = false) const;
  Tensor norm(const Scalar& p = 2, std::optional<IntArrayRef> dims = std::nullopt, bool keepdim = false) const;
  Tensor any() const;
  Tensor all() const;
  Tensor max() const;
  Tensor min() const;
  std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false) const;
  Tensor argmax(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor cumsum(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;

  // Matrix products.
  Tensor mm(const Tensor& mat2) const;
  Tensor bmm(const Tensor& mat2) const;
  Tensor mv(const Tensor& vec) const;
  Tensor dot(const Tensor& other) const;
  Tensor matmul(const Tensor& other) const;

  // Copies and conversions.
  Tensor copy_(const Tensor& src, bool non_blocking = false) const;
  Tensor fill_(const Scalar& value) const;
  Tensor zero_() const;
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor detach() const;
  Tensor to(ScalarType dtype, bool copy = false) const;
  // A non-blocking copy from the host may return before it is complete. The host tensor may be changed at once in any case.
  Tensor to(Device device, bool copy = false, bool non_blocking = false) const;
  Tensor to(Device device, ScalarType dtype, bool copy = false, bool non_blocking = false) const;

  // Views.
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  Tensor expand(IntArrayRef sizes) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<std::int64_t> offset = std::nullopt) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  Tensor t() const;
  Tensor permute(IntArrayRef dims) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor operator[](std::int64_t index) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt, std::optional<std::int64_t> end = std::nullopt,
               std::int64_t step = 1) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  TensorVector split(std::int64_t split_size, std::int64_t dim = 0) const;
  TensorVector split_with_sizes(IntArrayRef split_sizes, std::int64_t dim = 0) const;
  TensorVector chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  TensorVector unbind(std::int64_t dim = 0) const;

  // Elements by index, copies, random numbers.
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
  Tensor tril(std::int64_t diagonal = 0) const;
  Tensor triu(std::int64_t diagonal = 0) const;
  Tensor repeat(IntArrayRef repeats) const;
  Tensor uniform_(double from = 0, double to = 1) const;
  Tensor normal_(double mean = 0, double deviation = 1) const;
  Tensor random_(std::int64_t from, std::optional<std::int64_t> to = std::nullopt) const;
  Tensor bernoulli_(double p = 0.5) const;

 private:
  [[noreturn]] void fail_data_type(ScalarType asked) const;

  IntrusivePtr<TensorImpl> impl_;
};

inline TensorList::TensorList(const Tensor& tensor) : data_(&tensor), size_(1) {}
inline TensorList::TensorList(std::initializer_list<Tensor> list) : TensorList(std::data(list), list.size()) {}
inline TensorList::TensorList(const TensorVector& tensors) : TensorList(tensors.data(), tensors.size()) {}
inline const Tensor* TensorList::end() const { return data_ + size_; }
inline const Tensor& TensorList::operator[](std::size_t i) const { return data_[i]; }

}  // namespace mindtorch
