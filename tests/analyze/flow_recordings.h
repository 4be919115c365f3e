// Recordings of tensors and calls, for the tests of data flow and of what it tells.
#pragma once

#include <string_view>
#include <vector>

#include "tests/analyze/identified_inputs.h"

namespace mindtorch::analyze {

// Calls take one nanosecond each unless the length is given. A tensor is named by the address of its storage.
class FlowMaker : public IdentifiedMaker {
 public:
  void call(std::string_view name, std::int64_t start, const std::vector<std::uint64_t>& tensors, std::int64_t length = 1,
            trace::EventKind kind = trace::EventKind::kOp) {
    std::vector<trace::TensorIdentity> identities;
    for (const std::uint64_t storage : tensors) identities.push_back({.tensor = storage + 1, .storage = storage});
    inputs(op(name, start, length, kind), std::vector<trace::Input>(tensors.size(), tensor_of({2})), identities);
  }
  void node(std::string_view name, std::int64_t start, const std::vector<std::uint64_t>& tensors, std::int64_t length) {
    call(name, start, tensors, length, trace::EventKind::kBackward);
  }
  void make(std::int64_t time, std::uint64_t storage) { memory(time, 8, {}, storage); }
  void free(std::int64_t time, std::uint64_t storage) { memory(time, -8, {}, storage); }

  // A module call tells of a parameter and its gradient, 0 if it has none.
  void module_call(std::int64_t start, std::uint64_t parameter, std::uint64_t gradient = 0) {
    const trace::Input number{.kind = trace::Input::Kind::kInt, .integer = 1}, none{.kind = trace::Input::Kind::kNone};
    const trace::Input name{.kind = trace::Input::Kind::kText, .text = builder().intern("weight")};
    std::vector<trace::TensorIdentity> identities{{.tensor = parameter + 1, .storage = parameter}};
    if (gradient != 0) identities.push_back({.tensor = gradient + 1, .storage = gradient});
    inputs(op("nn.Module: Linear_0", start, 1, trace::EventKind::kModule),
           {number, number, name, tensor_of({2}), gradient != 0 ? tensor_of({2}) : none}, identities);
  }
  // The step of an optimizer tells of a parameter and its state.
  void optimizer_step(std::int64_t start, std::uint64_t parameter, std::uint64_t state) {
    const trace::Input number{.kind = trace::Input::Kind::kInt, .integer = 1}, none{.kind = trace::Input::Kind::kNone};
    const trace::Input name{.kind = trace::Input::Kind::kText, .text = builder().intern("momentum_buffer")};
    inputs(op("optimizer.py: _optimizer_step_code", start, 1, trace::EventKind::kPythonFunction),
           {number, number, tensor_of({2}), none, number, name, tensor_of({2})},
           {{.tensor = parameter + 1, .storage = parameter}, {.tensor = state + 1, .storage = state}});
  }
};

}  // namespace mindtorch::analyze
