// ThreadOwned: one value per thread that takes one word of thread-local storage, whatever its size.
//
// The library's thread-local storage is static (initial-exec): a program that loads the library late, as Python does, has only some
// hundred bytes left for it.
#pragma once

#include <new>

namespace mindtorch {

// T is default constructed on the first use in a thread and destroyed when the thread ends. One value for each T and thread: give T a type
// of its own.
template <class T>
class ThreadOwned {
 public:
  // Returns null if memory is exhausted, or if the thread is ending and its value is already destroyed.
  static T* get() noexcept { return value_ != nullptr ? value_ : make(); }

 private:
  struct End {
    ~End() {
      delete value_;
      value_ = nullptr;
      ended_ = true;
    }
  };

  static T* make() noexcept {
    if (ended_) return nullptr;
    static thread_local End end;
    static_cast<void>(end);
    try {
      return value_ = new (std::nothrow) T;
    } catch (const std::bad_alloc&) {  // of what T is made of
      return nullptr;
    }
  }

  // NOLINTBEGIN(readability-identifier-naming): clang-tidy takes members of a template that are constinit for variables.
  static inline constinit thread_local T* value_ = nullptr;
  static inline constinit thread_local bool ended_ = false;
  // NOLINTEND(readability-identifier-naming)
};

}  // namespace mindtorch
