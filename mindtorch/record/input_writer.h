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
  explicit InputWriter(Slot* slot) noexcept;
  ~InputWriter();
  InputWriter(const InputWriter&) = delete;
  InputWriter& operator=(const InputWriter&) = delete;

  void tensor(trace::ScalarType dtype, const std::int64_t* sizes, const std::int64_t* strides, std::uint32_t ndim,
              bool contiguous) noexcept {
    argument();
    put_tensor(dtype, sizes, strides, ndim, contiguous);
  }
  // Follow with `count` calls of list_tensor().
  void tensor_list(std::uint32_t count) noexcept {
    argument();
    word(trace::make_input_header(trace::Input::Kind::kTensorList, count));
  }
  void list_tensor(trace::ScalarType dtype, const std::int64_t* sizes, const std::int64_t* strides, std::uint32_t ndim,
                   bool contiguous) noexcept {
    put_tensor(dtype, sizes, strides, ndim, contiguous);
  }
  void integer(std::int64_t value) noexcept { pair(trace::Input::Kind::kInt, value); }
  void real(double value) noexcept { pair(trace::Input::Kind::kDouble, std::bit_cast<std::int64_t>(value)); }
  void boolean(bool value) noexcept { pair(trace::Input::Kind::kBool, value ? 1 : 0); }
  void text(std::string_view value) noexcept { pair(trace::Input::Kind::kText, intern_cached(value)); }
  void integers(const std::int64_t* values, std::uint32_t count) noexcept {
    argument();
    word(trace::make_input_header(trace::Input::Kind::kIntList, count));
    for (std::uint32_t i = 0; i < count; ++i) word(values[i]);
  }
  void reals(const double* values, std::uint32_t count) noexcept {
    argument();
    word(trace::make_input_header(trace::Input::Kind::kDoubleList, count));
    for (std::uint32_t i = 0; i < count; ++i) word(std::bit_cast<std::int64_t>(values[i]));
  }
  void none() noexcept { single(trace::Input::Kind::kNone); }
  void other() noexcept { single(trace::Input::Kind::kOther); }

 private:
  void argument() noexcept { ++arguments_; }
  void single(trace::Input::Kind kind) noexcept {
    argument();
    word(trace::make_input_header(kind));
  }
  void pair(trace::Input::Kind kind, std::int64_t value) noexcept {
    single(kind);
    word(value);
  }
  void word(std::int64_t value) noexcept {
    if (at_ == limit_) [[unlikely]]
      grow();
    if (at_ != limit_) *at_++ = value;
  }
  void put_tensor(trace::ScalarType dtype, const std::int64_t* sizes, const std::int64_t* strides, std::uint32_t ndim,
                  bool contiguous) noexcept {
    word(trace::make_input_header(trace::Input::Kind::kTensor, ndim, dtype, contiguous));
    for (std::uint32_t i = 0; i < ndim; ++i) word(sizes[i]);
    if (contiguous) return;
    for (std::uint32_t i = 0; i < ndim; ++i) word(strides[i]);
  }
  void grow() noexcept;

  ThreadLog* log_;
  Slot* slot_;
  std::int64_t* begin_ = nullptr;  // header word of the entry; null when the row is lost
  std::int64_t* at_ = nullptr;
  std::int64_t* limit_ = nullptr;
  std::int64_t arguments_ = 0;
};

}  // namespace mindtorch::record
