// Strings and violations.
#include "tests/doubles/library_base.h"

namespace doubles {

const char* LibraryBase::keep(const std::string& text) {
  std::lock_guard lock(mutex_);
  return strings_.insert(text).first->c_str();
}

void LibraryBase::add_violation(const std::string& sentence) {
  std::lock_guard lock(mutex_);
  violations_ += sentence + "\n";
}

const char* LibraryBase::violations() {
  std::lock_guard lock(mutex_);
  return strings_.insert(violations_).first->c_str();
}

void LibraryBase::reset_base() {
  calls.reset();
  std::lock_guard lock(mutex_);
  violations_.clear();
}

}  // namespace doubles
