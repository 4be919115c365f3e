// Making tensors out of storage.
#include "mindtorch/runtime/geometry.h"

#include <algorithm>
#include <array>
#include <limits>

namespace mindtorch {

Tensor new_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  if (sizes.size() > kMaxDims) throw_error("runtime.sizes", "tensors have at most {} dimensions, got {}", kMaxDims, sizes.size());
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes)) * element_size(dtype);
  return Tensor(make_intrusive<TensorImpl>(Storage::allocate(bytes, device), dtype, sizes));
}

namespace {

// The position of the last element; nothing if a size or stride is negative or the position does not fit into 64 bits.
std::optional<std::int64_t> last_element(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t distance;
    if (sizes[i] < 0 || strides[i] < 0 || __builtin_mul_overflow(std::max<std::int64_t>(sizes[i], 1) - 1, strides[i], &distance) ||
        __builtin_add_overflow(last, distance, &last))
      return std::nullopt;
  }
  return last;
}

}  // namespace

Tensor new_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  const bool is_empty = checked_numel(sizes) == 0;
  const std::optional<std::int64_t> last = last_element(sizes, strides, 0);
  if (!last || *last > std::numeric_limits<std::int64_t>::max() / 8 - 1)
    throw_error("runtime.sizes", "Storage size calculation overflowed with sizes={} and strides={}", to_string(sizes), to_string(strides));
  auto storage = Storage::allocate(is_empty ? 0 : static_cast<std::size_t>(*last + 1) * element_size(dtype), device);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, strides, 0, nullptr));
}

Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  TensorImpl& impl = *self.impl();
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const std::optional<std::int64_t> last = last_element(sizes, strides, offset);
  const auto elements = static_cast<std::int64_t>(impl.storage()->bytes() / element_size(impl.dtype()));
  if (offset < 0 || !last || (!is_empty && *last >= elements))
    throw_error("runtime.view", "sizes {}, strides {} and offset {} reach outside of a storage of {} elements", to_string(sizes),
                to_string(strides), offset, elements);
  IntrusivePtr<TensorImpl> base = impl.base() ? impl.base() : self.impl_ptr();
  return Tensor(make_intrusive<TensorImpl>(impl.storage(), impl.dtype(), sizes, strides, offset, std::move(base)));
}

Tensor alias_without_history(const Tensor& self) {
  const TensorImpl& impl = *self.impl();
  auto alias = make_intrusive<TensorImpl>(impl.storage(), impl.dtype(), impl.sizes(), impl.strides(), impl.storage_offset(), nullptr);
  if (impl.is_wrapped_number()) alias->set_wrapped_number();
  return Tensor(std::move(alias));
}

Tensor make_dense_view(const Tensor& fresh, IntArrayRef sizes) {
  return Tensor(make_intrusive<TensorImpl>(fresh.storage(), fresh.dtype(), sizes));
}

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes) {
  DimVector result(new_sizes.size());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return contiguous_strides(new_sizes);
  // Walk both shapes from the inside: each run of old dimensions that lie in one piece must be a product of new dimensions.
  auto at = static_cast<std::int64_t>(new_sizes.size()) - 1;
  std::int64_t piece_stride = sizes.empty() ? 1 : strides[sizes.size() - 1];
  std::int64_t piece = 1, covered = 1;
  for (auto i = static_cast<std::int64_t>(sizes.size()) - 1; i >= 0; --i) {
    piece *= sizes[i];
    const bool ends_here = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != piece * piece_stride);
    if (!ends_here) continue;
    while (at >= 0 && (covered < piece || new_sizes[at] == 1)) {
      result[at] = covered * piece_stride;
      covered *= new_sizes[at];
      --at;
    }
    if (covered != piece) return std::nullopt;
    if (i > 0) {
      piece_stride = strides[i - 1];
      piece = covered = 1;
    }
  }
  for (; at >= 0; --at) result[at] = 1;  // leading dimensions of one element
  return result;
}

DimVector infer_size(IntArrayRef sizes, std::int64_t numel, std::string_view op) {
  DimVector result(sizes);
  std::int64_t known = 1, unknown = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (unknown >= 0) throw_error(op, "only one dimension can be inferred, got {}", to_string(sizes));
      unknown = static_cast<std::int64_t>(i);
    } else if (sizes[i] < 0) {
      throw_error(op, "invalid shape dimension {} in {}", sizes[i], to_string(sizes));
    } else {
      known *= sizes[i];
    }
  }
  if (unknown >= 0 && known == 0 && numel == 0)
    throw_error(
        op, "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be any value and is ambiguous",
        to_string(sizes));
  const bool fits = unknown >= 0 ? known > 0 && numel % known == 0 : known == numel;
  if (!fits) throw_error(op, "shape '{}' is invalid for input of size {}", to_string(sizes), numel);
  if (unknown >= 0) result[static_cast<std::size_t>(unknown)] = numel / known;
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, std::string_view op) {
  const std::int64_t range = std::max<std::int64_t>(dims, 1);
  if (dim < -range || dim >= range)
    throw_error<OutOfRange>(op, "Dimension out of range (expected to be in range of [{}, {}], but got {})", -range, range - 1, dim);
  return dim < 0 ? dim + range : dim;
}

namespace {

// Collects the dimensions with more than one element, innermost first. False if a dimension has no elements.
bool dims_by_stride(IntArrayRef sizes, IntArrayRef strides, std::array<std::size_t, kMaxDims>& order, std::size_t& count) {
  count = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return false;
    if (sizes[i] > 1) order[count++] = i;
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
            [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  return true;
}

}  // namespace

bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  std::array<std::size_t, kMaxDims> order;
  std::size_t count;
  if (!dims_by_stride(sizes, strides, order, count)) return false;
  std::int64_t reach = 0;  // how far the inner dimensions extend
  for (std::size_t i = 0; i < count; ++i) {
    if (strides[order[i]] <= reach) return true;
    reach += (sizes[order[i]] - 1) * strides[order[i]];
  }
  return false;
}

bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  std::array<std::size_t, kMaxDims> order;
  std::size_t count;
  if (!dims_by_stride(sizes, strides, order, count)) return true;
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (strides[order[i]] != expected) return false;
    expected *= sizes[order[i]];
  }
  return true;
}

}  // namespace mindtorch
