// Arguments of ops in the Chakra schema: values, shapes, types and strides, one item per argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/analyze/tensor_ids.h"
#include "mindtorch/trace/call_details.h"
#include "mindtorch/trace/recording.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::exporter::chakra {

// The four lists of "inputs" or "outputs", without their brackets.
using ValueLists = trace::CallValuesOf<std::string>;

// Numbers the tensors and storages of a recording, each from 1. A view has its own tensor and shares the storage.
class TensorNumbers {
 public:
  explicit TensorNumbers(const trace::Recording& recording) : recording_(recording), ids_(recording) {}

  // The tensors of this event come next.
  void begin(trace::EventIndex event) {
    identities_ = trace::tensor_identities(recording_.inputs.find(event));
    numbers_ = ids_.of_inputs(event);
    next_ = 0;
  }
  struct Known {
    std::uint64_t tensor = 0;
    std::int64_t storage = 0, offset = 0;
    trace::Device device;
  };
  // The next tensor; on `device` if nothing else is known about it.
  Known next(trace::Device device) {
    const std::size_t at = next_++;
    if (at >= identities_.size() || identities_[at].tensor == 0) return {.device = device};
    const trace::TensorIdentity& identity = identities_[at];
    return {objects_.try_emplace(identity.tensor, objects_.size() + 1).first->second, numbers_[at].allocation, identity.offset,
            identity.device};
  }

 private:
  const trace::Recording& recording_;
  analyze::TensorIds ids_;
  std::vector<trace::TensorIdentity> identities_;
  std::span<const analyze::TensorNumbers> numbers_;
  std::size_t next_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> objects_;
};

// Appends the arguments of a row of Recording::inputs. Tensors are [tensor id, storage id, offset, elements, bytes per element, device].
// The ids and the offset are 0 if the recording does not contain the identity of tensors; then the tensor is taken to be on `device`.
void append_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, trace::Device device, TensorNumbers& numbers,
                   ValueLists& lists);

// Appends one text.
void append_text(std::string_view text, ValueLists& lists);

// `{"values": [], ...}`.
std::string to_json(const ValueLists& lists);

}  // namespace mindtorch::exporter::chakra
