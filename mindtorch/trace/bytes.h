// Bytes of a chunk's payload: variable-length numbers, texts, and columns of numbers packed so that zstd finds what repeats.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Thrown by ByteReader, and by functions that decode with it, if the bytes are malformed. It never leaves this part of the library.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t bits) { return static_cast<std::int64_t>((bits >> 1) ^ (0 - (bits & 1))); }

class ByteWriter {
 public:
  void u8(std::uint8_t value) { *grow(1) = static_cast<char>(value); }
  void number(std::uint64_t value);  // 1 to 10 bytes, small numbers short
  void signed_number(std::int64_t value) { number(zigzag(value)); }
  void real(double value);  // 8 bytes
  void text(std::string_view text);
  // The smallest value, then for each byte that the differences to it need, that byte of all values ("plane"). Without the number of
  // values.
  void column(std::span<const std::int64_t> values);

  void clear() { size_ = 0; }
  std::span<const char> bytes() const { return {buffer_.data(), size_}; }

 private:
  char* grow(std::size_t n);
  Column<char> buffer_;
  std::size_t size_ = 0;
};

// Reads what ByteWriter wrote; never past the end. Every call throws Malformed if the bytes do not hold what is asked for.
class ByteReader {
 public:
  explicit ByteReader(std::span<const char> bytes, MemoryBudget* budget = nullptr)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), budget_(budget) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(*take(1)); }
  std::uint64_t number();
  std::int64_t signed_number() { return unzigzag(number()); }
  std::uint64_t number_below(std::uint64_t limit, const char* what);  // Malformed names `what`
  // Reads the number of items that follow. Each takes at least one byte, so the number is bounded by the bytes that are left.
  std::size_t count() { return number_below(left() + 1, "a count"); }
  double real();
  std::string_view text();
  void column(std::span<std::int64_t> values);
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  // Counts the memory of `count` values. Call it before the values are read: few bytes can stand for many. Throws BudgetExceeded.
  template <class T>
  void room_for(std::size_t count) const {
    if (budget_ != nullptr) budget_->take_for<T>(count);
  }

 private:
  const char* take(std::size_t n);
  const char* at_;
  const char* end_;
  MemoryBudget* budget_;
};

}  // namespace mindtorch::trace
