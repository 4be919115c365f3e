// Rows of arguments with the identities of tensors, for recordings made by hand.
#pragma once

#include <map>
#include <vector>

#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/tensor_identity.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {

// A maker of recordings whose rows have identities.
class IdentifiedMaker : public Maker {
 public:
  // `identities` are those of the tensors among the inputs, in order.
  void inputs(Id event, const std::vector<trace::Input>& inputs, const std::vector<trace::TensorIdentity>& identities) {
    std::vector<std::int64_t> words = trace::encode_inputs(inputs);
    trace::add_identities(identities, words);
    rows_[event] = std::move(words);
  }
  trace::Recording finish() {
    trace::Recording recording = Maker::finish();
    std::map<trace::EventIndex, const std::vector<std::int64_t>*> ordered;
    for (const auto& [event, words] : rows_) ordered[new_index()[event]] = &words;
    for (const auto& [event, words] : ordered) recording.inputs.add(event, *words);
    return recording;
  }

 private:
  std::map<Id, std::vector<std::int64_t>> rows_;
};

inline trace::Input tensor_of(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides = {}) {
  return {
      .kind = trace::Input::Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = std::move(sizes), .strides = std::move(strides)};
}

}  // namespace mindtorch::analyze
