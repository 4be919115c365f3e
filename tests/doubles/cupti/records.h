// Records as the library of a given version writes them: their sizes, and one as bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "mindtorch/sources/cupti/cupti_abi.h"

namespace cupti_double {

namespace abi = mindtorch::sources::cupti;

// Of the kinds that a client can enable here.
std::size_t record_size(std::uint32_t kind, std::uint32_t version);  // 0: unknown kind

// `record` is the part that versions have in common; what a version appends is zero, and what an old one does not have is left out.
template <class Record>
std::string record_bytes(const Record& record, std::uint32_t version) {
  static_assert(std::is_trivially_copyable_v<Record>);
  std::string bytes(record_size(record.kind, version), '\0');
  std::memcpy(bytes.data(), &record, std::min(bytes.size(), sizeof record));
  return bytes;
}

template <class Value>
Value read_value(const void* record, std::size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

template <class Value>
void write_value(void* record, std::size_t offset, Value value) {
  std::memcpy(static_cast<char*>(record) + offset, &value, sizeof value);
}

// Where a record has its start; its end follows. Only for kinds with a time.
std::size_t start_offset(std::uint32_t kind);

bool is_device_kind(std::uint32_t kind);

}  // namespace cupti_double
