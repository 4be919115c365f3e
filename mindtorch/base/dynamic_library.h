// A library loaded at run time, so that one binary runs with and without a vendor's software.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"

namespace mindtorch {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;

  // Opens the first of `candidates` (names or paths) that loads; the Status lists what was tried and why it failed.
  Status open(const std::vector<std::string>& candidates);
  // Keeps the library loaded until the process ends, for libraries that must not be closed.
  void pin() noexcept;
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

// Finds the functions of a library one by one and notes which are missing.
class FunctionFinder {
 public:
  explicit FunctionFinder(const DynamicLibrary& library) : library_(library) {}

  // Sets `pointer`, to null if the library lacks the function.
  template <class Function>
  void find(const char* name, Function*& pointer) const {
    pointer = library_.find<Function>(name);
  }
  template <class Function>
  void require(const char* name, Function*& pointer) {
    find(name, pointer);
    if (pointer == nullptr) note_missing(name);
  }
  // The names of required functions that the library lacks, separated by commas.
  const std::string& missing() const { return missing_; }

 private:
  void note_missing(std::string_view name);

  const DynamicLibrary& library_;
  std::string missing_;
};

// The file that MINDTORCH_LIBRARY_PATH ("cupti=/opt/libcupti.so,mspti=...") names for a library; empty if it names none.
MINDTORCH_EXPORT std::string chosen_library(std::string_view name);

// The path of the library or program that contains this address, empty if there is none.
std::string library_of(const void* address);

// The paths of all libraries that the process has loaded.
std::vector<std::string> loaded_libraries();

// Those of `names` that exist in `folder`, as paths.
std::vector<std::string> files_in(const std::string& folder, const std::vector<std::string>& names);

}  // namespace mindtorch
