// Converts columns of any number type to and from bytes, through one work space of 64-bit numbers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "mindtorch/trace/bytes.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// It keeps its work space, so use one object for many columns.
class ColumnCodec {
 public:
  template <class T>
  void encode(std::span<const T> column, ByteWriter& out) {
    encode_with(column.size(), out, [&](std::size_t i) { return static_cast<std::int64_t>(column[i]); });
  }
  template <class Value>
  void encode_with(std::size_t size, ByteWriter& out, Value&& value) {
    numbers_.resize(size);
    for (std::size_t i = 0; i < size; ++i) numbers_[i] = value(i);
    out.column(numbers_);
  }
  // Stores differences of neighbours, and the first value separately, so that it does not widen the column. Differences wrap around, so any
  // values can be restored.
  template <class T>
  void encode_deltas(std::span<const T> column, ByteWriter& out) {
    if (column.empty()) return;
    out.signed_number(static_cast<std::int64_t>(column[0]));
    encode_with(column.size() - 1, out, [&](std::size_t i) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(column[i + 1]) - static_cast<std::uint64_t>(column[i]));
    });
  }

  // The column as numbers, valid until the next call.
  std::span<const std::int64_t> decode(std::size_t size, ByteReader& in) {
    numbers_.resize(size);
    in.column(numbers_);
    return numbers_;
  }
  template <class T>
  void decode(std::span<T> column, ByteReader& in) {
    const std::span<const std::int64_t> numbers = decode(column.size(), in);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<T>(numbers[i]);
  }
  // Throws Malformed, naming `what`, unless all values are below the limit.
  template <class T>
  void decode_below(std::uint64_t limit, const char* what, std::span<T> column, ByteReader& in) {
    const std::span<const std::int64_t> numbers = decode(column.size(), in);
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      largest = std::max(largest, static_cast<std::uint64_t>(numbers[i]));
      column[i] = static_cast<T>(numbers[i]);
    }
    if (!column.empty() && largest >= limit) throw Malformed(fmt::format("{} is {}, the limit is {}", what, largest, limit));
  }
  template <class T>
  void decode_deltas(std::span<T> column, ByteReader& in) {
    if (column.empty()) return;
    auto value = static_cast<std::uint64_t>(in.signed_number());
    const std::span<const std::int64_t> numbers = decode(column.size() - 1, in);
    column[0] = static_cast<T>(value);
    for (std::size_t i = 1; i < column.size(); ++i) column[i] = static_cast<T>(value += static_cast<std::uint64_t>(numbers[i - 1]));
  }

  void encode_devices(std::span<const Device> devices, ByteWriter& out) {
    encode_with(devices.size(), out, [&](std::size_t i) { return static_cast<std::int64_t>(devices[i].type) | devices[i].index << 8; });
  }
  void decode_devices(std::span<Device> devices, ByteReader& in) {
    const std::span<const std::int64_t> numbers = decode(devices.size(), in);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      devices[i] = {static_cast<DeviceType>(numbers[i] & 0xFF), static_cast<std::uint8_t>(numbers[i] >> 8)};
    }
  }

 private:
  Column<std::int64_t> numbers_;
};

}  // namespace mindtorch::trace
