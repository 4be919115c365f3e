// Exceptions of Python that are raised where nothing can let them through: in callbacks of the recorder, while a session starts or stops.
//
// They are kept until the call that started or stopped the session ends, and are raised there. KeyboardInterrupt, which comes at any time,
// is one of them. Everything here runs with the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

namespace mindtorch::python {

// Keeps the errors of the callbacks that this thread calls while the object lives. One error can be raised: KeyboardInterrupt if there is
// one, else the first. Others are reported as Python reports errors that it cannot raise (sys.unraisablehook).
class KeptError {
 public:
  KeptError() noexcept;
  // An error that was not raised goes to the next outer object of this thread. Without one it is reported, and an interrupt comes again.
  ~KeptError();
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

  // Raises the error that was kept, if there is one.
  void raise();

  void keep(nanobind::python_error error) noexcept;

 private:
  KeptError* const outer_;
  std::optional<nanobind::python_error> error_;
};

// Does the work of a call of Python that may start or stop a session, and raises what was kept meanwhile.
template <class Work>
void raising_kept_error(Work&& work) {
  KeptError kept;
  work();
  kept.raise();
}

// Calls `callback`, and keeps what it raises for the call that caused it. A KeyboardInterrupt may come before the callback did anything, so
// after one it is called again: calling it twice must do no harm.
template <class Callback>
void call_and_keep_error(Callback&& callback) {
  KeptError kept;
  for (bool interrupted = true; interrupted;) {
    interrupted = false;
    try {
      callback();
    } catch (nanobind::python_error& error) {
      interrupted = error.matches(PyExc_KeyboardInterrupt);
      kept.keep(std::move(error));
    }
  }
}

}  // namespace mindtorch::python
