// InputWriter: writes the arguments of an op call straight into the side log, in the encoding of trace/inputs.h.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::record {

// Use it right after opening the scope, on the thread of the scope, and only if scope.wants(kShapes). Add the arguments in call order; the
// destructor commits the row. A row that does not fit (a list of thousands of tensors) is dropped as a whole and counted as lost side data.
class MINDTORCH_EXPORT InputWriter {
 public:
  template <class Scope>
  explicit InputWriter(const Scope& scope) noexcept : InputWriter(scope.slot()) {}
  explicit InputWriter(Slot* slot) noexcept : log_(thread_log), slot_(slot) {
    if (slot == nullptr) return;
    row_.begin = reserve_side(log_, kUsualWords);
    if (row_.begin == nullptr) return;
    row_.at = row_.begin + 2;  // the header and the number of arguments come last
    row_.limit = log_->side_limit;
  }
  ~InputWriter() {
    if (row_.begin == nullptr) return;
    row_.begin[1] = arguments_;
    commit_side(log_, row_.begin, SideKind::kInputs, static_cast<std::uint32_t>(row_.at - row_.begin - 1),
                static_cast<std::uint32_t>(slot_ - log_->segment_begin));
  }
  InputWriter(const InputWriter&) = delete;
  InputWriter& operator=(const InputWriter&) = delete;

  void tensor(trace::ScalarType dtype, const std::int64_t* sizes, const std::int64_t* strides, std::uint32_t ndim,
              bool contiguous) noexcept {
    ++arguments_;
    list_tensor(dtype, sizes, strides, ndim, contiguous);
  }
  // Follow with `count` calls of list_tensor().
  void tensor_list(std::uint32_t count) noexcept { header(trace::make_input_header(trace::Input::Kind::kTensorList, count)); }
  void list_tensor(trace::ScalarType dtype, const std::int64_t* sizes, const std::int64_t* strides, std::uint32_t ndim,
                   bool contiguous) noexcept {
    if (!make_room(1 + 2 * std::size_t{ndim})) return;
    *row_.at++ = trace::make_input_header(trace::Input::Kind::kTensor, ndim, dtype, contiguous);
    put(sizes, ndim);
    if (!contiguous) put(strides, ndim);
  }
  // The same for a tensor whose layout has no strides (a sparse one).
  void tensor_without_strides(trace::ScalarType dtype, const std::int64_t* sizes, std::uint32_t ndim) noexcept {
    ++arguments_;
    list_tensor_without_strides(dtype, sizes, ndim);
  }
  void list_tensor_without_strides(trace::ScalarType dtype, const std::int64_t* sizes, std::uint32_t ndim) noexcept {
    if (!make_room(1 + std::size_t{ndim})) return;
    *row_.at++ = trace::make_input_header(trace::Input::Kind::kTensor, ndim, dtype, true) | trace::kWithoutStrides;
    put(sizes, ndim);
  }
  void integer(std::int64_t value) noexcept { pair(trace::Input::Kind::kInt, value); }
  void real(double value) noexcept { pair(trace::Input::Kind::kDouble, std::bit_cast<std::int64_t>(value)); }
  void boolean(bool value) noexcept { pair(trace::Input::Kind::kBool, value ? 1 : 0); }
  void text(std::string_view value) noexcept { pair(trace::Input::Kind::kText, intern_cached(value)); }
  void integers(const std::int64_t* values, std::uint32_t count) noexcept {
    numbers(trace::Input::Kind::kIntList, count, [values](std::uint32_t i) { return values[i]; });
  }
  // Adds a list of that kind. number_at(i) returns its i-th number (0 or 1 for a bool) and must not throw.
  template <class NumberAt>
  void numbers(trace::Input::Kind kind, std::uint32_t count, NumberAt&& number_at) noexcept {
    words(kind, count, [&](std::int64_t* at) {
      for (std::uint32_t i = 0; i < count; ++i) at[i] = std::bit_cast<std::int64_t>(number_at(i));
    });
  }
  // The same for a caller that writes all of them: write(at) fills at[0] to at[count - 1] and must not throw.
  template <class Write>
  void words(trace::Input::Kind kind, std::uint32_t count, Write&& write) noexcept {
    ++arguments_;
    if (!make_room(1 + std::size_t{count})) return;
    *row_.at++ = trace::make_input_header(kind, count);
    write(row_.at);
    row_.at += count;
  }
  void none() noexcept { header(trace::make_input_header(trace::Input::Kind::kNone)); }
  void other() noexcept { header(trace::make_input_header(trace::Input::Kind::kOther)); }

 private:
  // This is enough for two tensors of four dimensions, so that most rows need only one check for room.
  static constexpr std::uint32_t kUsualWords = 24;

  // The words of the row so far and the room after them; all null when the row is lost.
  struct Row {
    std::int64_t* begin = nullptr;  // header word of the entry
    std::int64_t* at = nullptr;
    std::int64_t* limit = nullptr;
  };

  bool make_room(std::size_t words) noexcept {
    if (static_cast<std::size_t>(row_.limit - row_.at) >= words) [[likely]]
      return true;
    row_ = moved(log_, row_, words);
    return row_.begin != nullptr;
  }
  // The row in a new chunk; lost (and counted) if that cannot hold `words` more either. By value, so that a writer lives in registers.
  static Row moved(ThreadLog* log, Row row, std::size_t words) noexcept;

  void put(const std::int64_t* values, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) row_.at[i] = values[i];
    row_.at += count;
  }
  void header(std::int64_t word) noexcept {
    ++arguments_;
    if (make_room(1)) *row_.at++ = word;
  }
  void pair(trace::Input::Kind kind, std::int64_t value) noexcept {
    ++arguments_;
    if (!make_room(2)) return;
    *row_.at++ = trace::make_input_header(kind);
    *row_.at++ = value;
  }

  ThreadLog* log_;
  Slot* slot_;
  Row row_;
  std::int64_t arguments_ = 0;
};

}  // namespace mindtorch::record
