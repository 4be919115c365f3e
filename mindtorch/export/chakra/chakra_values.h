// Arguments of ops in the Chakra schema: values, shapes, types and strides, one item per argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/trace/event.h"

namespace mindtorch::exporter::chakra {

// The four lists of "inputs" or "outputs", without their brackets.
struct ValueLists {
  std::string values, shapes, types, strides;
};

// Appends the arguments of a row of Recording::inputs. Tensors are [tensor id, storage id, offset, elements, bytes per element, device].
// The ids and the offset are 0, because a recording does not contain the identity of tensors.
void append_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, trace::Device device, ValueLists& lists);

// Appends one text.
void append_text(std::string_view text, ValueLists& lists);

// `{"values": [], ...}`.
std::string to_json(const ValueLists& lists);

}  // namespace mindtorch::exporter::chakra
