// TensorReader: reads rows of arguments in place, beside the identities and numbers of their tensors.
#include "mindtorch/analyze/tensor_memory.h"

#include <algorithm>
#include <array>

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::Input;
using trace::MemoryCategory;

// Unsigned, so that absurd sizes of a file wrap instead of overflowing.
std::int64_t bytes_up_to_the_end(const Argument& tensor, std::int64_t offset) {
  std::uint64_t last = static_cast<std::uint64_t>(offset), stride = 1;
  for (std::size_t i = tensor.values.size(); i-- > 0;) {
    if (tensor.values[i] <= 0) return 0;
    const auto size = static_cast<std::uint64_t>(tensor.values[i]);
    last += (size - 1) * (tensor.strides.empty() ? stride : static_cast<std::uint64_t>(tensor.strides[i]));
    stride *= size;
  }
  const auto bytes = static_cast<std::int64_t>((last + 1) * static_cast<std::uint64_t>(element_bytes(tensor.dtype)));
  return std::max<std::int64_t>(bytes, 0);
}

}  // namespace

std::int64_t element_bytes(trace::ScalarType type) {
  // Integers, floats, complex numbers, bool, quantized integers, bfloat16; from 23 on the floats of one byte and unsigned integers.
  static constexpr std::array<std::int8_t, 30> kBytes{1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                                      2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,  1, 2, 4, 8};
  const auto number = static_cast<std::size_t>(type);
  return number < kBytes.size() ? kBytes[number] : 0;
}

bool TensorReader::read(trace::EventIndex event) {
  tensors_.clear();
  count_ = 0;
  lacks_storage_ = false;
  const auto words = recording_.inputs.find(event);
  if (words.empty()) return false;
  read_arguments(words, arguments_);
  const std::vector<trace::TensorIdentity> identities = trace::tensor_identities(words);
  const std::span<const TensorNumbers> numbers = ids_.of_inputs(event);
  std::size_t next = 0, in_list = 0;
  for (const Argument& argument : arguments_) {
    if (in_list > 0)
      --in_list;
    else
      ++count_;
    in_list += argument.list_size;
    if (argument.kind != Input::Kind::kTensor) continue;
    const std::size_t at = next++;
    if (at >= identities.size() || identities[at].tensor == 0) continue;
    if (identities[at].storage == 0) {
      lacks_storage_ = true;
      continue;
    }
    tensors_.push_back(
        {count_ - 1, numbers[at], identities[at].device, bytes_up_to_the_end(argument, identities[at].offset), MemoryCategory::kUnknown});
  }
  if (recording_.events.kind[event] == EventKind::kModule) find_what_a_module_owns();
  if (recording_.events.kind[event] == EventKind::kPythonFunction) find_what_an_optimizer_owns();
  return true;
}

void TensorReader::find_what_a_module_owns() {
  for (std::size_t i = 2; i + 2 < arguments_.size(); i += 3) {
    own(i + 1, MemoryCategory::kParameter);
    own(i + 2, MemoryCategory::kGradient);
  }
}

void TensorReader::find_what_an_optimizer_owns() {
  for (std::size_t i = 2; i + 2 < arguments_.size();) {
    own(i, MemoryCategory::kParameter);
    own(i + 1, MemoryCategory::kGradient);
    const std::int64_t states = arguments_[i + 2].kind == Input::Kind::kInt ? arguments_[i + 2].values[0] : 0;
    i += 3;
    for (std::int64_t s = 0; s < states && i + 1 < arguments_.size(); ++s, i += 2) own(i + 1, MemoryCategory::kOptimizerState);
  }
}

// Such rows have no lists, and they are asked for in order.
void TensorReader::own(std::size_t argument, MemoryCategory category) {
  const auto found = std::ranges::lower_bound(tensors_, argument, {}, &SeenTensor::argument);
  if (found != tensors_.end() && found->argument == argument) found->owned_as = category;
}

}  // namespace mindtorch::analyze
