// Errors. Misuse is an exception whose text names the part and function: "[record.start] a session is already running".
// Missing hardware is a Status with a reason the user can act on: the program goes on.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "mindtorch/base/export.h"

namespace mindtorch {

// Base of everything this library throws on misuse.
class MINDTORCH_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A wrong argument (Python: ValueError).
class MINDTORCH_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
};

// A wrong argument where torch answers with AssertionError (Python: one class that is both ValueError and AssertionError).
class MINDTORCH_EXPORT ArgumentAssertion : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

// A wrong index (Python: IndexError).
class MINDTORCH_EXPORT OutOfRange : public Error {
 public:
  using Error::Error;
};

// A wrong type (Python: TypeError).
class MINDTORCH_EXPORT TypeMismatch : public Error {
 public:
  using Error::Error;
};

// An attribute or key that does not exist (Python: AttributeError).
class MINDTORCH_EXPORT NoSuchAttribute : public Error {
 public:
  using Error::Error;
};

// A call that breaks the order of calls, where torch answers with AssertionError.
class MINDTORCH_EXPORT AssertionFailed : public Error {
 public:
  using Error::Error;
};

// A file operation that failed; text holds path and cause, code() is errno (Python: OSError).
class MINDTORCH_EXPORT IoError : public Error {
 public:
  IoError(int code, std::string path, const std::string& what) : Error(what), code_(code), path_(std::move(path)) {}
  int code() const noexcept { return code_; }
  const std::string& path() const noexcept { return path_; }

 private:
  int code_;
  std::string path_;
};

// throw_error<InvalidArgument>("profiler.schedule", "active must be > 0, got {}", n)
template <class E = Error, class... Args>
[[noreturn]] void throw_error(std::string_view where, fmt::format_string<Args...> text, Args&&... args) {
  throw E(fmt::format("[{}] {}", where, fmt::format(text, std::forward<Args>(args)...)));
}

// Throws IoError "[where] cannot <action> '<path>': <strerror(code)>".
[[noreturn]] MINDTORCH_EXPORT void throw_io_error(std::string_view where, std::string_view action, const std::string& path, int code);

// Success, or the reason why something is not available.
class [[nodiscard]] Status {
 public:
  static Status ok() { return Status(); }
  static Status unavailable(std::string reason) { return Status(reason.empty() ? "no reason is known" : std::move(reason)); }

  bool is_ok() const noexcept { return reason_.empty(); }
  explicit operator bool() const noexcept { return is_ok(); }
  const std::string& reason() const noexcept { return reason_; }

 private:
  Status() = default;
  explicit Status(std::string reason) : reason_(std::move(reason)) {}
  std::string reason_;
};

}  // namespace mindtorch
