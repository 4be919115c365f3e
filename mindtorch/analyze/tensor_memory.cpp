// Reads the rows of arguments in place.
#include "mindtorch/analyze/tensor_memory.h"

#include <algorithm>
#include <array>
#include <span>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::Input;
using trace::MemoryCategory;

// An argument, and which tensor it is.
struct Identified {
  Argument argument;
  trace::TensorIdentity identity;
  bool is_known() const { return identity.tensor != 0; }
};

// Calls visit(event, arguments) for each row that has identities. The tensors of a list follow it.
template <class Visit>
void for_each_row(const trace::Recording& recording, Visit visit) {
  const trace::SideTable<std::int64_t>& inputs = recording.inputs;
  std::vector<Argument> arguments;
  std::vector<Identified> row;
  for (std::size_t r = 0; r < inputs.events.size(); ++r) {
    const std::span words(inputs.values.data() + inputs.offsets[r], inputs.values.data() + inputs.offsets[r + 1]);
    const std::vector<trace::TensorIdentity> identities = trace::tensor_identities(words);
    if (identities.empty()) continue;
    read_arguments(words, arguments);
    row.clear();
    std::size_t next = 0;
    for (const Argument& argument : arguments)
      row.push_back({argument, argument.kind == Input::Kind::kTensor ? identities[next++] : trace::TensorIdentity{}});
    visit(inputs.events[r], row);
  }
}

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

// Tags what a module or an optimizer owns.
class Owner {
 public:
  Owner(std::int64_t time_ns, std::span<const Identified> row, std::vector<trace::MemoryTag>& tags)
      : time_ns_(time_ns), row_(row), tags_(tags) {}

  void tag_module() {
    for (std::size_t i = 2; i + 2 < row_.size(); i += 3) {
      tag(row_[i + 1], MemoryCategory::kParameter);
      tag(row_[i + 2], MemoryCategory::kGradient);
    }
  }
  void tag_optimizer() {
    for (std::size_t i = 2; i + 2 < row_.size();) {
      tag(row_[i], MemoryCategory::kParameter);
      tag(row_[i + 1], MemoryCategory::kGradient);
      const std::int64_t states = row_[i + 2].argument.kind == Input::Kind::kInt ? row_[i + 2].argument.values[0] : 0;
      i += 3;
      for (std::int64_t s = 0; s < states && i + 1 < row_.size(); ++s, i += 2) tag(row_[i + 1], MemoryCategory::kOptimizerState);
    }
  }

 private:
  void tag(const Identified& tensor, MemoryCategory category) {
    if (tensor.is_known()) tags_.push_back({time_ns_, tensor.identity.storage, category});
  }

  std::int64_t time_ns_;
  std::span<const Identified> row_;
  std::vector<trace::MemoryTag>& tags_;
};

}  // namespace

std::int64_t element_bytes(trace::ScalarType type) {
  // Integers, floats, complex numbers, bool, quantized integers, bfloat16; from 23 on the floats of one byte and unsigned integers.
  static constexpr std::array<std::int8_t, 30> kBytes{1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                                      2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,  1, 2, 4, 8};
  const auto number = static_cast<std::size_t>(type);
  return number < kBytes.size() ? kBytes[number] : 0;
}

std::vector<StorageUse> storage_uses(const trace::Recording& recording) {
  std::vector<StorageUse> uses;
  for_each_row(recording, [&](trace::EventIndex event, const std::vector<Identified>& arguments) {
    const bool needs_grad = recording.events.kind[event] == EventKind::kOp && trace::sequence_of(recording.events.link[event]) >= 0;
    for (const auto& [argument, identity] : arguments) {
      if (identity.storage == 0) continue;
      uses.push_back({recording.events.start_ns[event], identity.device, identity.storage, bytes_up_to_the_end(argument, identity.offset),
                      needs_grad});
    }
  });
  std::ranges::stable_sort(uses, {}, &StorageUse::time_ns);
  return uses;
}

std::vector<trace::MemoryTag> owner_tags(const trace::Recording& recording) {
  std::vector<trace::MemoryTag> tags;
  for_each_row(recording, [&](trace::EventIndex event, const std::vector<Identified>& arguments) {
    Owner owner(recording.events.start_ns[event], arguments, tags);
    if (recording.events.kind[event] == EventKind::kModule) owner.tag_module();
    if (recording.events.kind[event] == EventKind::kPythonFunction) owner.tag_optimizer();
  });
  std::ranges::stable_sort(tags, {}, &trace::MemoryTag::time_ns);
  return tags;
}

}  // namespace mindtorch::analyze
