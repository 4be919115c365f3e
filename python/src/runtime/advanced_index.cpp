// Indexing by tensors, as one index_select or scatter over the indexed dimensions taken together.
#include "python/src/runtime/advanced_index.h"

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch::python {

namespace {

// How the dimensions are rearranged: the indexed ones come first and become one.
struct Arrangement {
  DimVector order;           // of the tensor's dimensions, the indexed ones first
  std::size_t indexed = 0;   // how many of them are indexed
  DimVector broadcast;       // sizes that the index tensors have in common
  std::size_t position = 0;  // where those sizes are in the result
  Tensor rows;               // index into the indexed dimensions taken as one; as many as `broadcast` has elements
};

DimVector broadcast_sizes(const IndexTensors& indices) {
  DimVector sizes;
  for (const OptionalTensor& index : indices) {
    if (!index) continue;
    const IntArrayRef own = index->sizes();
    while (sizes.size() < own.size()) sizes.insert(0, 1);
    for (std::size_t d = 0; d < own.size(); ++d) {
      std::int64_t& size = sizes[sizes.size() - own.size() + d];
      if (size == 1)
        size = own[d];
      else if (own[d] != 1 && own[d] != size)
        throw_error<OutOfRange>("Tensor.__getitem__", "shape mismatch: indexing tensors could not be broadcast together with shapes {}, {}",
                                to_string(sizes), to_string(own));
    }
  }
  return sizes;
}

// The element that each tuple of indices names, counted over the indexed dimensions row by row.
Tensor linear_rows(const Tensor& self, const IndexTensors& indices, IntArrayRef broadcast) {
  const std::int64_t count = checked_numel(broadcast);
  const Tensor rows = zeros({count}, {.dtype = kInt64});
  auto* row = rows.data_ptr<std::int64_t>();
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    const std::int64_t size = self.sizes()[d];
    const Tensor host = indices[d]->to(Device(), kInt64).expand(broadcast).contiguous();
    const auto* index = host.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      if (index[i] < -size || index[i] >= size)
        throw_error<OutOfRange>("Tensor.__getitem__", "index {} is out of bounds for dimension {} with size {}", index[i], d, size);
      row[i] = row[i] * size + (index[i] < 0 ? index[i] + size : index[i]);
    }
  }
  return rows.to(self.device());
}

Arrangement arrange(const Tensor& self, const IndexTensors& indices) {
  Arrangement result;
  result.broadcast = broadcast_sizes(indices);
  bool is_together = true;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    if (result.indexed == 0) result.position = d;
    is_together = is_together && d == result.position + result.indexed;
    result.order.push_back(static_cast<std::int64_t>(d));
    ++result.indexed;
  }
  if (!is_together) result.position = 0;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (static_cast<std::size_t>(d) >= indices.size() || !indices[static_cast<std::size_t>(d)]) result.order.push_back(d);
  result.rows = linear_rows(self, indices, result.broadcast);
  return result;
}

// Sizes with the indexed dimensions replaced by `first`.
DimVector rearranged_sizes(const Tensor& permuted, std::size_t indexed, IntArrayRef first) {
  DimVector sizes(first);
  for (std::size_t d = indexed; d < permuted.sizes().size(); ++d) sizes.push_back(permuted.sizes()[d]);
  return sizes;
}

std::int64_t indexed_elements(const Tensor& permuted, std::size_t indexed) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < indexed; ++d) product *= permuted.sizes()[d];
  return product;
}

// Moves `count` dimensions from the front to `position`, or back.
DimVector moved_dims(std::size_t dims, std::size_t count, std::size_t position, bool back) {
  DimVector order;
  for (std::size_t d = count; d < count + position; ++d) order.push_back(static_cast<std::int64_t>(d));
  for (std::size_t d = 0; d < count; ++d) order.push_back(static_cast<std::int64_t>(d));
  for (std::size_t d = count + position; d < dims; ++d) order.push_back(static_cast<std::int64_t>(d));
  if (!back) return order;
  DimVector inverse(dims);
  for (std::size_t d = 0; d < dims; ++d) inverse[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  return inverse;
}

// True if the first `count` dimensions can be seen as one without a copy.
bool are_mergeable(const Tensor& tensor, std::size_t count) {
  for (std::size_t d = 1; d < count; ++d)
    if (tensor.strides()[d - 1] != tensor.strides()[d] * tensor.sizes()[d]) return false;
  return true;
}

}  // namespace

std::vector<Tensor> positions_of(const Tensor& mask) {
  const Tensor host = mask.to(Device()).contiguous();
  const bool* values = host.data_ptr<bool>();
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < host.numel(); ++i)
    if (values[i]) found.push_back(i);
  std::vector<Tensor> positions;
  const auto dims = static_cast<std::size_t>(mask.dim());
  for (std::size_t d = 0; d < dims; ++d) positions.push_back(empty({static_cast<std::int64_t>(found.size())}, {.dtype = kInt64}));
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::int64_t rest = found[i];
    for (std::size_t d = dims; d-- > 0;) {
      positions[d].data_ptr<std::int64_t>()[i] = rest % mask.sizes()[d];
      rest /= mask.sizes()[d];
    }
  }
  return positions;
}

Tensor index_get(const Tensor& self, const IndexTensors& indices) {
  const Arrangement how = arrange(self, indices);
  const Tensor permuted = self.permute(how.order);
  const DimVector flat = rearranged_sizes(permuted, how.indexed, {indexed_elements(permuted, how.indexed)});
  const Tensor taken = permuted.reshape(flat).index_select(0, how.rows);
  const Tensor result = taken.reshape(rearranged_sizes(permuted, how.indexed, how.broadcast));
  if (how.position == 0) return result;
  return result.permute(moved_dims(result.sizes().size(), how.broadcast.size(), how.position, false));
}

void index_set(const Tensor& self, const IndexTensors& indices, const Tensor& value) {
  const Arrangement how = arrange(self, indices);
  const Tensor permuted = self.permute(how.order);
  const DimVector front = rearranged_sizes(permuted, how.indexed, how.broadcast);
  const DimVector to_result = moved_dims(front.size(), how.broadcast.size(), how.position, false);
  DimVector result_sizes;
  for (const std::int64_t d : to_result) result_sizes.push_back(front[static_cast<std::size_t>(d)]);
  if (!is_expandable_to(value.sizes(), result_sizes))
    throw_error("Tensor.__setitem__", "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
                to_string(value.sizes()), to_string(result_sizes));
  const DimVector flat = rearranged_sizes(permuted, how.indexed, {how.rows.numel()});
  const Tensor source = value.to(self.device(), self.dtype())
                            .expand(result_sizes)
                            .permute(moved_dims(front.size(), how.broadcast.size(), how.position, true))
                            .reshape(flat);
  DimVector index_sizes(flat.size(), 1);
  index_sizes[0] = flat[0];
  const Tensor rows = how.rows.reshape(index_sizes).expand(flat);
  const DimVector merged = rearranged_sizes(permuted, how.indexed, {indexed_elements(permuted, how.indexed)});
  if (are_mergeable(permuted, how.indexed)) {
    (how.indexed == 1 ? permuted : permuted.view(merged)).scatter_(0, rows, source);
  } else {
    const Tensor copy = permuted.reshape(merged).clone();
    copy.scatter_(0, rows, source);
    permuted.copy_(copy.reshape(permuted.sizes()));
  }
}

}  // namespace mindtorch::python
