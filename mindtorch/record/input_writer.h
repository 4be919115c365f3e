// InputWriter: writes the arguments of an op call straight into the side log, in the encoding of trace/inputs.h.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "mindtorch/record/hooks.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::record {

// Use right after opening the scope, on its thread, only if scope.wants(kShapes). Arguments in call order; the row is committed by the
// destructor. If it does not fit (a list of thousands of tensors) the row is dropped whole and counted as lost side data.
class InputWriter {
 public:
  template <class Scope>
  explicit InputWriter(const Scope& scope) noexcept : InputWriter(scope.slot()) {}
  explicit InputWriter(Slot* slot) noexcept : log_(thread_log), slot_(slot) {
    if (slot == nullptr) return;
    begin_ = reserve_side(log_, kUsualWords);
    if (begin_ == nullptr) return;
    at_ = begin_ + 2;  // the header and the number of arguments come last
    limit_ = log_->side_limit;
  }
  ~InputWriter() {
    if (begin_ == nullptr) return;
    begin_[1] = arguments_;
    commit_side(log_, begin_, SideKind::kInputs, static_cast<std::uint32_t>(at_ - begin_ - 1),
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
    *at_++ = trace::make_input_header(trace::Input::Kind::kTensor, ndim, dtype, contiguous);
    put(sizes, ndim);
    if (!contiguous) put(strides, ndim);
  }
  void integer(std::int64_t value) noexcept { pair(trace::Input::Kind::kInt, value); }
  void real(double value) noexcept { pair(trace::Input::Kind::kDouble, std::bit_cast<std::int64_t>(value)); }
  void boolean(bool value) noexcept { pair(trace::Input::Kind::kBool, value ? 1 : 0); }
  void text(std::string_view value) noexcept { pair(trace::Input::Kind::kText, intern_cached(value)); }
  void integers(const std::int64_t* values, std::uint32_t count) noexcept { list(trace::Input::Kind::kIntList, values, count); }
  // 0 and 1.
  void booleans(const std::int64_t* values, std::uint32_t count) noexcept { list(trace::Input::Kind::kBoolList, values, count); }
  void reals(const double* values, std::uint32_t count) noexcept { list(trace::Input::Kind::kDoubleList, values, count); }
  void none() noexcept { header(trace::make_input_header(trace::Input::Kind::kNone)); }
  void other() noexcept { header(trace::make_input_header(trace::Input::Kind::kOther)); }

 private:
  // Enough for two tensors of four dimensions, so that most rows are checked for room once.
  static constexpr std::uint32_t kUsualWords = 24;

  bool make_room(std::size_t words) noexcept { return static_cast<std::size_t>(limit_ - at_) >= words || grow(words); }
  // Moves the row begun to a new chunk; false (and the row is lost and counted) if it cannot hold `words` more either.
  bool grow(std::size_t words) noexcept;

  template <class Word>
  void put(const Word* values, std::uint32_t count) noexcept {
    static_assert(sizeof(Word) == sizeof(std::int64_t));
    for (std::uint32_t i = 0; i < count; ++i) at_[i] = std::bit_cast<std::int64_t>(values[i]);
    at_ += count;
  }
  void header(std::int64_t word) noexcept {
    ++arguments_;
    if (make_room(1)) *at_++ = word;
  }
  void pair(trace::Input::Kind kind, std::int64_t value) noexcept {
    ++arguments_;
    if (!make_room(2)) return;
    *at_++ = trace::make_input_header(kind);
    *at_++ = value;
  }
  template <class Word>
  void list(trace::Input::Kind kind, const Word* values, std::uint32_t count) noexcept {
    ++arguments_;
    if (!make_room(1 + std::size_t{count})) return;
    *at_++ = trace::make_input_header(kind, count);
    put(values, count);
  }

  ThreadLog* log_;
  Slot* slot_;
  std::int64_t* begin_ = nullptr;  // header word of the entry; null when the row is lost
  std::int64_t* at_ = nullptr;
  std::int64_t* limit_ = nullptr;
  std::int64_t arguments_ = 0;
};

}  // namespace mindtorch::record
