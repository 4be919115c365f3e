// Finds and loads CUPTI at run time.
#include "mindtorch/sources/cupti/library.h"

#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

namespace mindtorch::sources::cupti {
namespace {

namespace fs = std::filesystem;

// Only one copy of CUPTI can watch a process, so whatever is loaded is the one to use.
struct LoadedLibraries {
  std::vector<std::string> cupti;
  std::string torch_folder;  // of libc10.so
};

LoadedLibraries loaded_libraries() {
  LoadedLibraries found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& libraries = *static_cast<LoadedLibraries*>(out);
        const fs::path path(info->dlpi_name == nullptr ? "" : info->dlpi_name);
        const std::string name = path.filename().string();
        if (name.starts_with("libcupti") && name.find(".so") != std::string::npos) libraries.cupti.push_back(path.string());
        if (name == "libc10.so") libraries.torch_folder = path.parent_path().string();
        return 0;
      },
      &found);
  return found;
}

void add_folder(std::vector<std::string>& candidates, const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (fs::exists(folder / name, ignored)) candidates.push_back((folder / name).string());
  }
}

std::string_view advice(Result result) {
  switch (result) {
    case kInsufficientPrivileges:
    case kVirtualizedDeviceInsufficientPrivileges:
      return "; the driver lets only administrators profile: load its kernel module with NVreg_RestrictProfilingToAdminUsers=0, or give "
             "the "
             "container the capability SYS_ADMIN";
    case kMultipleSubscribersNotSupported:
      return "; CUPTI serves one profiler for each process: stop the other one (Nsight Systems, DCGM, torch.profiler) first";
    case kNotCompatible:
    case kNotSupported: return "; the driver and CUPTI do not fit together: install a newer driver, or the CUPTI of the driver's release";
    default: return "";
  }
}

}  // namespace

std::vector<std::string> library_candidates() {
  std::vector<std::string> candidates;
  if (const char* chosen = std::getenv("MINDTORCH_CUPTI"); chosen != nullptr && *chosen != '\0') return {chosen};
  const LoadedLibraries loaded = loaded_libraries();
  candidates = loaded.cupti;
  if (!loaded.torch_folder.empty()) {
    const fs::path packages = fs::path(loaded.torch_folder) / ".." / "..";
    add_folder(candidates, packages / "nvidia" / "cu13" / "lib");
    add_folder(candidates, packages / "nvidia" / "cuda_cupti" / "lib");
    add_folder(candidates, loaded.torch_folder);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);
    if (home == nullptr || *home == '\0') continue;
    add_folder(candidates, fs::path(home) / "extras" / "CUPTI" / "lib64");
    add_folder(candidates, fs::path(home) / "lib64");
  }
  add_folder(candidates, "/usr/local/cuda/extras/CUPTI/lib64");
  add_folder(candidates, "/usr/local/cuda/lib64");
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) candidates.emplace_back(name);
  return candidates;
}

Status Library::load() {
  if (is_loaded()) return Status::ok();
  if (const Status opened = library_.open(library_candidates()); !opened)
    return Status::unavailable(
        fmt::format("CUPTI was not found ({}); install the package nvidia-cuda-cupti, or set CUDA_HOME", opened.reason()));
  return resolve();
}

Status Library::resolve() {
  std::string missing;
  const auto find = [&](const char* name, auto*& pointer, bool required) {
    pointer = library_.find<std::remove_pointer_t<std::remove_reference_t<decltype(pointer)>>>(name);
    if (pointer == nullptr && required) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  };
#define MINDTORCH_CUPTI_REQUIRED(name, arguments) find(#name, functions_.name, true);
#define MINDTORCH_CUPTI_OPTIONAL(name, arguments) find(#name, functions_.name, false);
  MINDTORCH_CUPTI_FUNCTIONS(MINDTORCH_CUPTI_REQUIRED, MINDTORCH_CUPTI_OPTIONAL)
#undef MINDTORCH_CUPTI_REQUIRED
#undef MINDTORCH_CUPTI_OPTIONAL
  if (!missing.empty()) return Status::unavailable(fmt::format("{} lacks {}: CUPTI of CUDA 12 or later is needed", path(), missing));
  std::uint32_t version = 0;
  if (const Status status = check(functions_.cuptiGetVersion(&version), "cuptiGetVersion"); !status) return status;
  version_ = version;
  return Status::ok();
}

Status Library::check(Result result, std::string_view call) const {
  if (result == kSuccess) return Status::ok();
  const char* text = nullptr;
  if (functions_.cuptiGetResultString != nullptr) functions_.cuptiGetResultString(result, &text);
  return Status::unavailable(fmt::format("{}: {} ({}){}", call, text != nullptr ? text : "error", result, advice(result)));
}

}  // namespace mindtorch::sources::cupti
