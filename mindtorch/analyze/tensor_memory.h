// What the identities of tensors tell of memory: which allocations ops used, and what modules and optimizers own.
//
// The row of a module call has the addresses of the module and its class, then the name, the tensor and the gradient of each parameter.
// That of the step of an optimizer has its address and that of its class, then for each parameter the tensor, the gradient, the number of
// tensors in its state, and their names and tensors. Only the first call and the first step have tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/tensor_ids.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {

// Bytes of one element, by the numbers that torch gives its types; 0 if the type is not known.
MINDTORCH_EXPORT std::int64_t element_bytes(trace::ScalarType type);

// A tensor among the arguments of an op, or of a module or an optimizer.
struct SeenTensor {
  std::size_t argument = 0;  // its position; the tensors of a list have that of the list
  TensorNumbers numbers;
  trace::Device device;
  std::int64_t bytes = 0;                                            // from the begin of the storage to the last element of this tensor
  trace::MemoryCategory owned_as = trace::MemoryCategory::kUnknown;  // what it is to a module or an optimizer
  friend bool operator==(const SeenTensor&, const SeenTensor&) = default;
};

// Reads the tensors of one event after the other.
class TensorReader {
 public:
  // Both must outlive the reader.
  TensorReader(const trace::Recording& recording, const TensorIds& ids) : recording_(recording), ids_(ids) {}

  // Reads the row of an event. False if it has none. O(arguments + log rows).
  bool read(trace::EventIndex event);
  // Of the row that was read: the identified tensors that have a storage, and the number of arguments.
  std::span<const SeenTensor> tensors() const { return tensors_; }
  std::size_t arguments() const { return count_; }
  // True if one of its tensors has no storage, as sparse and empty ones.
  bool has_tensor_without_storage() const { return lacks_storage_; }

 private:
  void find_what_a_module_owns();
  void find_what_an_optimizer_owns();
  void own(std::size_t argument, trace::MemoryCategory category);

  const trace::Recording& recording_;
  const TensorIds& ids_;
  std::vector<Argument> arguments_;
  std::vector<SeenTensor> tensors_;
  std::size_t count_ = 0;
  bool lacks_storage_ = false;
};

}  // namespace mindtorch::analyze
