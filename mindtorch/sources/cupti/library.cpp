// Finds and loads CUPTI at run time.
#include "mindtorch/sources/cupti/library.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace mindtorch::sources::cupti {
namespace {

namespace fs = std::filesystem;

void add_folder(std::vector<std::string>& candidates, const fs::path& folder) {
  for (std::string& path : files_in(folder.string(), {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}))
    candidates.push_back(std::move(path));
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
  if (std::string chosen = chosen_library("cupti"); !chosen.empty()) return {std::move(chosen)};
  // Only one copy of CUPTI can watch a process, so whatever is loaded is the one to use.
  fs::path torch_folder;
  for (const fs::path path : loaded_libraries()) {
    const std::string name = path.filename().string();
    if (name.starts_with("libcupti") && name.find(".so") != std::string::npos) candidates.push_back(path.string());
    if (name == "libc10.so") torch_folder = path.parent_path();
  }
  if (!torch_folder.empty()) {
    const fs::path packages = torch_folder / ".." / "..";
    add_folder(candidates, packages / "nvidia" / "cu13" / "lib");
    add_folder(candidates, packages / "nvidia" / "cuda_cupti" / "lib");
    add_folder(candidates, torch_folder);
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
  FunctionFinder functions(library_);
#define MINDTORCH_CUPTI_REQUIRED(name, arguments) functions.require(#name, functions_.name);
#define MINDTORCH_CUPTI_OPTIONAL(name, arguments) functions.find(#name, functions_.name);
  MINDTORCH_CUPTI_FUNCTIONS(MINDTORCH_CUPTI_REQUIRED, MINDTORCH_CUPTI_OPTIONAL)
#undef MINDTORCH_CUPTI_REQUIRED
#undef MINDTORCH_CUPTI_OPTIONAL
  FunctionFinder of_subscribers(library_);
#define MINDTORCH_CUPTI_OF_SUBSCRIBERS(name, arguments) of_subscribers.require(#name, subscriber_functions_.name);
  MINDTORCH_CUPTI_SUBSCRIBER_FUNCTIONS(MINDTORCH_CUPTI_OF_SUBSCRIBERS)
#undef MINDTORCH_CUPTI_OF_SUBSCRIBERS
  if (!functions.missing().empty())
    return Status::unavailable(fmt::format("{} lacks {}: CUPTI of CUDA 12 or later is needed", path(), functions.missing()));
  std::uint32_t version = 0;
  if (const Status status = check(functions_.cuptiGetVersion(&version), "cuptiGetVersion"); !status) return status;
  version_ = version;
  has_subscriber_functions_ =
      version >= kFirstVersionWithUserDefinedRecords && functions_.cuptiSubscribe_v2 != nullptr && of_subscribers.missing().empty();
  driver_calls_ = driver_calls(functions_);
  return Status::ok();
}

Status Library::check(Result result, std::string_view call) const {
  if (result == kSuccess) return Status::ok();
  return Status::unavailable(fmt::format("{}: {}{}", call, explain(result), advice(result)));
}

std::string Library::explain(Result result) const {
  const char* text = nullptr;
  if (functions_.cuptiGetResultString != nullptr) functions_.cuptiGetResultString(result, &text);
  return fmt::format("{} ({})", text != nullptr ? text : "error", result);
}

}  // namespace mindtorch::sources::cupti
