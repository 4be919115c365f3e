// Which tensors the arguments of a call were. A row of Recording::inputs whose tensors are identified ends with one more argument that is
// not an argument of the call: header{kIdentities, 4 * tensors}, and for each tensor of the row, those of lists included, its address, the
// address of its storage, its offset, and its device and layout.
//
// The row of a module call or of a Python function does not hold arguments, but the tensors that a module or an optimizer owns
// (analyze/tensor_memory.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

struct TensorIdentity {
  std::uint64_t tensor = 0;   // address of the host's tensor object, which no other tensor of the session has; 0: not identified
  std::uint64_t storage = 0;  // address of the first byte of its storage; 0 if it has none
  std::int64_t offset = 0;    // of its first element in the storage, in elements
  Device device;              // where the storage is
  std::uint8_t layout = 0;    // torch's number of the layout: 0 is strided
  friend bool operator==(const TensorIdentity&, const TensorIdentity&) = default;
};

inline constexpr Input::Kind kIdentities{11};
inline constexpr std::size_t kIdentityWords = 4;

// Word 0 to 3 of an identity.
constexpr std::int64_t identity_word(const TensorIdentity& identity, std::size_t word) {
  switch (word) {
    case 0: return static_cast<std::int64_t>(identity.tensor);
    case 1: return static_cast<std::int64_t>(identity.storage);
    case 2: return identity.offset;
    default:
      return static_cast<std::int64_t>(identity.device.type) | (std::int64_t{identity.device.index} << 8) |
             (std::int64_t{identity.layout} << 16);
  }
}
constexpr TensorIdentity identity_at(const std::int64_t* words) {
  return {static_cast<std::uint64_t>(words[0]),
          static_cast<std::uint64_t>(words[1]),
          words[2],
          {static_cast<DeviceType>(words[3] & 0xFF), static_cast<std::uint8_t>(words[3] >> 8)},
          static_cast<std::uint8_t>(words[3] >> 16)};
}

// One for each tensor of a well-formed row, in order; empty if they are not identified.
MINDTORCH_EXPORT std::vector<TensorIdentity> tensor_identities(std::span<const std::int64_t> words);

// Adds identities to a row that has none: one for each of its tensors, in order.
MINDTORCH_EXPORT void add_identities(std::span<const TensorIdentity> identities, std::vector<std::int64_t>& words);

// False if the row of such an event holds what its module or optimizer owns.
constexpr bool takes_arguments(EventKind kind) { return kind != EventKind::kModule && kind != EventKind::kPythonFunction; }

}  // namespace mindtorch::trace
