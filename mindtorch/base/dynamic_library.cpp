// A library loaded at run time.
#include "mindtorch/base/dynamic_library.h"

#include <dlfcn.h>

#include <utility>

namespace mindtorch {

DynamicLibrary::~DynamicLibrary() {
  if (handle_) ::dlclose(handle_);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

Status DynamicLibrary::open(const std::vector<std::string>& candidates) {
  std::string tried;
  for (const std::string& name : candidates) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      *this = DynamicLibrary();
      handle_ = handle;
      path_ = name;
      return Status::ok();
    }
    const char* why = ::dlerror();
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", why ? why : name.c_str());
  }
  return Status::unavailable(tried.empty() ? "no library name given" : tried);
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ ? ::dlsym(handle_, name) : nullptr; }

}  // namespace mindtorch
