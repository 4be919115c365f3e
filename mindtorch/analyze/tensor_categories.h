// TensorCategories: the purpose of each version of each allocation of a PyTorch program, found by the rules of torch's memory profiler.
//
//   optimizer state  a tensor in the state of an optimizer
//   parameter        of a module or an optimizer; or it helps to compute gradients and is written with the help of one
//   gradient         of a parameter, or kept by autograd
//   temporary        made and freed by one call
//   input            helps to compute a gradient and does not depend on one
//   activation       computed in the forward pass from inputs and activations
//   autograd detail  made by autograd, none of the above
#pragma once

#include <optional>
#include <vector>

#include "mindtorch/analyze/data_flow.h"

namespace mindtorch::analyze {

class TensorCategories {
 public:
  // O(calls and their edges), a few times. `flow` must outlive it.
  explicit TensorCategories(const DataFlow& flow);

  trace::MemoryCategory of(std::uint32_t allocation, std::uint32_t version) const;

 private:
  using Category = trace::MemoryCategory;
  enum class Side : std::uint8_t { kTaken, kNew, kBoth };

  // Calls visit(allocation, version) for the versions that a call took, or that are new after it.
  template <class Visit>
  void for_each(const FlowCall& call, Side side, Visit visit) const;
  // True if check(allocation, version) is true of one of them.
  template <class Check>
  bool any(const FlowCall& call, Side side, Check check) const;
  void own(Category category);
  void add(std::uint32_t allocation, std::uint32_t version, Category category);
  std::int64_t tensor(std::uint32_t allocation) const { return flow_.allocations()[allocation].tensor; }
  std::size_t tensor_index(std::uint32_t allocation) const { return static_cast<std::size_t>(tensor(allocation)); }
  bool is_gradient(std::uint32_t allocation, std::uint32_t version) const { return of(allocation, version) == Category::kGradient; }

  void find_temporaries();
  void find_inputs();
  void find_parameters();
  void find_activations();
  void find_autograd_details();
  std::vector<bool> tensors_that_depend_on_gradients() const;

  const DataFlow& flow_;
  std::vector<std::optional<Category>> of_tensor_;
  std::vector<bool> is_temporary_;                   // allocations
  std::vector<std::optional<Category>> of_version_;  // by slot
};

}  // namespace mindtorch::analyze
