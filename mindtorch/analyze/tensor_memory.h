// What the identities of tensors tell of memory: which storages ops used, and what modules and optimizers own.
//
// The row of a module call has the addresses of the module and its class, then the name, the tensor and the gradient of each parameter.
// That of the step of an optimizer has its address and that of its class, then for each parameter the tensor, the gradient, the number of
// tensors in its state, and their names and tensors. Only the first call and the first step have tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// A tensor among the arguments of an op, or of a module or an optimizer.
struct StorageUse {
  std::int64_t time_ns = 0;
  trace::Device device;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;   // from the begin of the storage to the last element of this tensor
  bool needs_grad = false;  // an argument of an op whose result has a gradient
  friend bool operator==(const StorageUse&, const StorageUse&) = default;
};

// Bytes of one element, by the numbers that torch gives its types; 0 if the type is not known.
MINDTORCH_EXPORT std::int64_t element_bytes(trace::ScalarType type);

// In order of time. Empty if identities were not recorded.
std::vector<StorageUse> storage_uses(const trace::Recording& recording);

// Parameters, their gradients and the state of optimizers, in order of time.
std::vector<trace::MemoryTag> owner_tags(const trace::Recording& recording);

}  // namespace mindtorch::analyze
