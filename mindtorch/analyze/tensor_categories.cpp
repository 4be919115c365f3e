// The rules of tensor_categories.h, in the order in which torch applies them: what the first ones find helps the later ones.
#include "mindtorch/analyze/tensor_categories.h"

#include <algorithm>

namespace mindtorch::analyze {

using trace::MemoryCategory;

TensorCategories::TensorCategories(const DataFlow& flow)
    : flow_(flow), is_temporary_(flow.allocations().size()), of_version_(flow.slots()) {
  std::int64_t tensors = 0;
  for (const FlowAllocation& allocation : flow.allocations()) tensors = std::max(tensors, allocation.tensor + 1);
  of_tensor_.resize(static_cast<std::size_t>(tensors));
  own(Category::kGradient);
  find_temporaries();
  own(Category::kParameter);
  find_inputs();
  find_parameters();
  find_activations();
  own(Category::kOptimizerState);
  find_autograd_details();
}

MemoryCategory TensorCategories::of(std::uint32_t allocation, std::uint32_t version) const {
  if (tensor(allocation) < 0) return Category::kUnknown;
  if (const auto known = of_tensor_[tensor_index(allocation)]) return *known;
  if (is_temporary_[allocation]) return Category::kTemporary;
  return of_version_[flow_.slot(allocation, version)].value_or(Category::kUnknown);
}

template <class Visit>
void TensorCategories::for_each(const FlowCall& call, Side side, Visit visit) const {
  for (const FlowEdge& edge : flow_.edges(call)) {
    if (side != Side::kNew && edge.is_taken()) visit(edge.allocation, edge.version);
    if (side != Side::kTaken && edge.has_new_version()) visit(edge.allocation, edge.new_version());
  }
}

template <class Check>
bool TensorCategories::any(const FlowCall& call, Side side, Check check) const {
  bool found = false;
  for_each(call, side, [&](std::uint32_t allocation, std::uint32_t version) { found = found || check(allocation, version); });
  return found;
}

void TensorCategories::own(Category category) {
  for (const Ownership& owned : flow_.owned())
    if (owned.category == category) of_tensor_[tensor_index(owned.allocation)] = category;
}

// The first category of a version stays.
void TensorCategories::add(std::uint32_t allocation, std::uint32_t version, Category category) {
  std::optional<Category>& known = of_version_[flow_.slot(allocation, version)];
  if (!known) known = category;
}

void TensorCategories::find_temporaries() {
  for (const FlowCall& call : flow_.calls())
    for (const FlowEdge& edge : flow_.edges(call))
      if (edge.is_made && edge.is_freed) is_temporary_[edge.allocation] = true;
}

// A tensor depends on a gradient if any of its versions does. So a parameter of the first step does, which the optimizer writes later, and
// all calls are looked at again until nothing is added.
std::vector<bool> TensorCategories::tensors_that_depend_on_gradients() const {
  std::vector<bool> found(of_tensor_.size());
  bool has_grown = true;
  const auto add_tensor = [&](std::uint32_t allocation) {
    if (found[tensor_index(allocation)]) return;
    found[tensor_index(allocation)] = has_grown = true;
  };
  const auto depends = [&](std::uint32_t allocation, std::uint32_t version) {
    const Category category = of(allocation, version);
    return found[tensor_index(allocation)] || category == Category::kGradient || category == Category::kParameter;
  };
  while (has_grown) {
    has_grown = false;
    for (const FlowCall& call : flow_.calls()) {
      if (!any(call, Side::kTaken, depends)) continue;
      for_each(call, Side::kTaken, [&](std::uint32_t allocation, std::uint32_t version) {
        if (depends(allocation, version)) add_tensor(allocation);
      });
      for_each(call, Side::kNew, [&](std::uint32_t allocation, std::uint32_t) { add_tensor(allocation); });
    }
  }
  return found;
}

void TensorCategories::find_inputs() {
  const std::vector<bool> depends_on_gradient = tensors_that_depend_on_gradients();
  std::vector<bool> helps(flow_.slots());  // to compute a gradient, or something from a parameter
  for (auto at = flow_.calls().rbegin(); at != flow_.calls().rend(); ++at) {
    const FlowCall& call = *at;
    const bool counts = any(call, Side::kBoth, [&](std::uint32_t allocation, std::uint32_t version) {
      const Category category = of(allocation, version);
      return helps[flow_.slot(allocation, version)] || category == Category::kGradient || category == Category::kParameter;
    });
    if (counts)
      for_each(call, Side::kBoth, [&](std::uint32_t allocation, std::uint32_t version) { helps[flow_.slot(allocation, version)] = true; });
  }
  for (const FlowCall& call : flow_.calls())
    if (call.is_backward)
      for_each(call, Side::kNew, [&](std::uint32_t allocation, std::uint32_t version) { helps[flow_.slot(allocation, version)] = false; });
  for (const FlowCall& call : flow_.calls())
    for_each(call, Side::kBoth, [&](std::uint32_t allocation, std::uint32_t version) {
      if (helps[flow_.slot(allocation, version)] && !depends_on_gradient[tensor_index(allocation)])
        add(allocation, version, Category::kInput);
    });
}

// Parameters that no module and no optimizer told of: what the forward pass takes and does not compute, if a gradient is computed from it
// and it depends on one.
void TensorCategories::find_parameters() {
  std::vector<bool> is_forward(flow_.slots()), is_candidate(flow_.slots()), is_used(flow_.slots());
  const auto is_gradient = [&](std::uint32_t allocation, std::uint32_t version) { return this->is_gradient(allocation, version); };
  for (const FlowCall& call : flow_.calls())
    for_each(call, Side::kBoth, [&](std::uint32_t allocation, std::uint32_t version) {
      if (of(allocation, version) == Category::kInput) is_forward[flow_.slot(allocation, version)] = true;
    });
  for (const FlowCall& call : flow_.calls()) {
    const auto known = [&](std::uint32_t allocation, std::uint32_t version) { return is_forward[flow_.slot(allocation, version)]; };
    if (call.is_backward || any(call, Side::kBoth, is_gradient) || !any(call, Side::kTaken, known)) continue;
    for_each(call, Side::kNew,
             [&](std::uint32_t allocation, std::uint32_t version) { is_forward[flow_.slot(allocation, version)] = true; });
    for_each(call, Side::kTaken, [&](std::uint32_t allocation, std::uint32_t version) {
      if (!known(allocation, version)) is_candidate[flow_.slot(allocation, version)] = true;
    });
  }
  for (auto at = flow_.calls().rbegin(); at != flow_.calls().rend(); ++at) {
    const FlowCall& call = *at;
    const auto counts = [&](std::uint32_t allocation, std::uint32_t version) {
      return is_used[flow_.slot(allocation, version)] || this->is_gradient(allocation, version);
    };
    if (any(call, Side::kNew, counts))
      for_each(call, Side::kTaken,
               [&](std::uint32_t allocation, std::uint32_t version) { is_used[flow_.slot(allocation, version)] = true; });
  }
  const std::vector<bool> depends_on_gradient = tensors_that_depend_on_gradients();
  for (const FlowCall& call : flow_.calls())
    for_each(call, Side::kTaken, [&](std::uint32_t allocation, std::uint32_t version) {
      const std::size_t slot = flow_.slot(allocation, version);
      if (is_candidate[slot] && is_used[slot] && depends_on_gradient[tensor_index(allocation)])
        of_tensor_[tensor_index(allocation)] = Category::kParameter;
    });
}

void TensorCategories::find_activations() {
  for (const FlowCall& call : flow_.calls()) {
    if (call.is_backward) continue;
    bool is_needed = false, is_other = false;
    for_each(call, Side::kTaken, [&](std::uint32_t allocation, std::uint32_t version) {
      const Category category = of(allocation, version);
      const bool flows = category == Category::kInput || category == Category::kActivation;
      is_needed |= flows;
      is_other |= !flows && category != Category::kParameter && category != Category::kTemporary;
    });
    if (!is_needed || is_other) continue;
    for_each(call, Side::kNew, [&](std::uint32_t allocation, std::uint32_t version) { add(allocation, version, Category::kActivation); });
  }
}

void TensorCategories::find_autograd_details() {
  for (const FlowCall& call : flow_.calls()) {
    if (!call.is_backward) continue;
    for_each(call, Side::kNew, [&](std::uint32_t allocation, std::uint32_t version) {
      const Category before = version == 0 ? Category::kUnknown : of(allocation, version - 1);
      if (before == Category::kUnknown || before == Category::kAutogradDetail) add(allocation, version, Category::kAutogradDetail);
    });
  }
}

}  // namespace mindtorch::analyze
