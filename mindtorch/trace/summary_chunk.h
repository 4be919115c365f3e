// The chunk that describes how a recording was made.
#pragma once

#include <cstdint>

#include "mindtorch/trace/bytes.h"
#include "mindtorch/trace/chunk_file.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Packs options, metadata, losses, memory baselines, clock, trace id and devices of a recording.
void encode_summary(const Recording& recording, ByteWriter& out);
// `minor` is the minor version of the file: format 1.0 has no devices. Throws Malformed and then leaves `into` unchanged.
void decode_summary(ByteReader& in, Recording& into, std::uint8_t minor = kFormatMinor);

}  // namespace mindtorch::trace
