// A library loaded at run time.
#include "mindtorch/base/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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

void DynamicLibrary::pin() noexcept {
  if (handle_) static_cast<void>(::dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ ? ::dlsym(handle_, name) : nullptr; }

void FunctionFinder::note_missing(std::string_view name) {
  if (!missing_.empty()) missing_ += ", ";
  missing_ += name;
}

std::string chosen_library(std::string_view name) {
  const char* const chosen = std::getenv("MINDTORCH_LIBRARY_PATH");
  std::string_view rest = chosen != nullptr ? chosen : "";
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return std::string(entry.substr(name.size() + 1));
  }
  return "";
}

std::string library_of(const void* address) {
  Dl_info info{};
  const bool is_known = ::dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? std::filesystem::absolute(info.dli_fname).string() : "";
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
          static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

std::vector<std::string> files_in(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path, ignored)) found.push_back(path.string());
  }
  return found;
}

}  // namespace mindtorch
