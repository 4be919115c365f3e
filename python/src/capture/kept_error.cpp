// Which error is kept, and what becomes of the others.
#include "python/src/capture/kept_error.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

constinit thread_local KeptError* innermost = nullptr;

bool is_interrupt(const nb::python_error& error) { return error.matches(PyExc_KeyboardInterrupt); }

void report(nb::python_error& error) noexcept { error.discard_as_unraisable("a callback of the profiler"); }

}  // namespace

KeptError::KeptError() noexcept : outer_(innermost) { innermost = this; }

KeptError::~KeptError() {
  innermost = outer_;
  if (!error_) return;
  if (outer_ != nullptr)
    outer_->keep(std::move(*error_));
  else if (is_interrupt(*error_))
    PyErr_SetInterrupt();
  else
    report(*error_);
}

void KeptError::raise() {
  if (!error_) return;
  nb::python_error error = std::move(*error_);
  error_.reset();
  throw error;
}

void KeptError::keep(nb::python_error error) noexcept {
  if (error_ && (is_interrupt(*error_) || !is_interrupt(error))) return report(error);
  if (error_) report(*error_);
  error_.emplace(std::move(error));
}

}  // namespace mindtorch::python
