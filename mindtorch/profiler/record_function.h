// RecordFunction: a scope that the user names, the C++ counterpart of torch.profiler.record_function.
#pragma once

#include <string_view>
#include <utility>

#include "mindtorch/base/export.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::profiler {

// The scope is recorded from construction to close() or destruction, including destruction by an exception. It may be nested, moved, and
// closed on another thread, which marks it as async. It costs a load and a branch while nothing is being recorded.
//
//   profiler::RecordFunction scope("forward");
class MINDTORCH_EXPORT RecordFunction {
 public:
  // `args` is text about this call, shown with the event.
  explicit RecordFunction(std::string_view name, std::string_view args = {}) noexcept : scope_(name) {
    if (scope_.recording() && !args.empty()) add_args(args);
  }
  RecordFunction(RecordFunction&&) noexcept = default;
  RecordFunction& operator=(RecordFunction&&) noexcept = default;

  // Ends the event; further calls do nothing.
  void close() noexcept { scope_.close(); }
  // True while the event is open and recorded.
  bool recording() const noexcept { return scope_.recording(); }

 private:
  void add_args(std::string_view args) noexcept;

  record::NamedScope scope_;
};

}  // namespace mindtorch::profiler
