// A library loaded at run time, so that one binary runs with and without a vendor's software.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;

  // Opens the first of `candidates` (names or paths) that loads; the Status lists what was tried and why it failed.
  Status open(const std::vector<std::string>& candidates);
  bool is_open() const noexcept { return handle_ != nullptr; }
  const std::string& path() const noexcept { return path_; }

  // Address of a function, null if the library lacks it.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace mindtorch
