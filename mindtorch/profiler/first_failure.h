// FirstFailure: runs several pieces of work, and afterwards throws the first exception of any of them.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace mindtorch::profiler {

class FirstFailure {
 public:
  // Calls `work`; an exception is kept if it is the first.
  template <class Work>
  void attempt(Work&& work) noexcept {
    try {
      std::forward<Work>(work)();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  explicit operator bool() const noexcept { return first_ != nullptr; }
  void rethrow_if_any() const {
    if (first_) std::rethrow_exception(first_);
  }
  // The text of the exception; empty without one.
  std::string text() const {
    try {
      rethrow_if_any();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "an exception of unknown type";
    }
  }

 private:
  std::exception_ptr first_;
};

}  // namespace mindtorch::profiler
