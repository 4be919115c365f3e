// Finds and loads MSPTI at run time.
#include "mindtorch/sources/mspti/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace mindtorch::sources::mspti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libmspti.so";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_mspti(const std::string& path) { return fs::path(path).filename().string().starts_with(kFileName); }

// Call before the library is opened by ourselves, which puts it into the link map too.
Library::Preload preload_state() {
  const std::string preloaded(variable("LD_PRELOAD"));
  if (preloaded.find(kFileName) == std::string::npos) return Library::Preload::kNone;
  const bool is_loaded = std::ranges::any_of(
      loaded_libraries(), [&](const std::string& path) { return is_mspti(path) && preloaded.find(path) != std::string::npos; });
  return is_loaded ? Library::Preload::kDone : Library::Preload::kWrong;
}

std::string_view meaning(Result result) {
  switch (result) {
    case kInvalidParameter: return "invalid parameter";
    case kMultipleSubscribersNotSupported: return "another tool has subscribed";
    case kDeviceOffline: return "the device is offline";
    case kWithoutPreload: return "the library was not preloaded";
    case kNotInitialized: return "not initialised";
    case kInvalidKind: return "invalid kind";
    case kInnerError: return "inner error";
    default: return "error";
  }
}

std::string_view advice(Result result) {
  switch (result) {
    case kMultipleSubscribersNotSupported:
      return "; MSPTI serves one tool for each process, and none beside msprof or torch_npu.profiler: stop the other one first";
    case kDeviceOffline: return "; npu-smi info shows the state of the devices";
    default: return "";
  }
}

}  // namespace

std::vector<std::string> library_candidates() {
  if (std::string chosen = chosen_library("mspti"); !chosen.empty()) return {std::move(chosen)};
  std::vector<std::string> candidates;
  std::ranges::copy_if(loaded_libraries(), std::back_inserter(candidates), is_mspti);
  const auto add_home = [&](std::string_view home) {
    if (home.empty()) return;
    for (const char* folder : {"lib64", "tools/mspti/lib64"}) {
      for (std::string& path : files_in((fs::path(home) / folder).string(), {kFileName})) candidates.push_back(std::move(path));
    }
  };
  add_home(variable("ASCEND_HOME_PATH"));
  add_home(variable("ASCEND_TOOLKIT_HOME"));
  add_home("/usr/local/Ascend/cann");
  add_home("/usr/local/Ascend/ascend-toolkit/latest");
  candidates.emplace_back(kFileName);
  return candidates;
}

Status Library::load() {
  if (is_loaded()) return Status::ok();
  preload_ = preload_state();
  if (const Status opened = library_.open(library_candidates()); !opened)
    return Status::unavailable(fmt::format(
        "MSPTI was not found ({}); install CANN 8.5 or later and run its set_env.sh, or set MINDTORCH_LIBRARY_PATH=mspti=<path>",
        opened.reason()));
  // Threads of the library run until the process ends.
  library_.pin();
  return resolve();
}

Status Library::resolve() {
  Functions found;
  FunctionFinder functions(library_);
#define MINDTORCH_MSPTI_REQUIRED(name, arguments) functions.require(#name, found.name);
#define MINDTORCH_MSPTI_OPTIONAL(name, arguments) functions.find(#name, found.name);
  MINDTORCH_MSPTI_FUNCTIONS(MINDTORCH_MSPTI_REQUIRED, MINDTORCH_MSPTI_OPTIONAL)
#undef MINDTORCH_MSPTI_REQUIRED
#undef MINDTORCH_MSPTI_OPTIONAL
  if (!functions.missing().empty()) return Status::unavailable(fmt::format("{} lacks {}", path(), functions.missing()));
  functions_ = found;
  return Status::ok();
}

std::string Library::preload_advice() const {
  switch (preload_) {
    case Preload::kDone: return "";
    case Preload::kNone:
      return fmt::format(
          "copies, memsets and allocations are recorded only if MSPTI is loaded before CANN: start the program with "
          "LD_PRELOAD={}",
          path());
    case Preload::kWrong:
      return fmt::format(
          "LD_PRELOAD names {}, but the loader has not found that file, so copies, memsets and allocations are missing: "
          "set LD_PRELOAD={}",
          kFileName, path());
  }
  return "";
}

std::string Library::version() const {
  std::uint32_t number = 0;
  if (functions_.msptiGetVersion != nullptr && functions_.msptiGetVersion(&number) == kSuccess)
    return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  return library_.find<void()>("msptiActivityIsEnabled") != nullptr ? "26.1" : "26.0 or earlier";
}

Status Library::check(Result result, std::string_view call) const {
  if (result == kSuccess) return Status::ok();
  const std::string what_to_do = result == kWithoutPreload ? "; " + preload_advice() : std::string(advice(result));
  return Status::unavailable(fmt::format("{}: {}{}", call, explain(result), what_to_do));
}

std::string Library::explain(Result result) { return fmt::format("{} ({})", meaning(result), result); }

}  // namespace mindtorch::sources::mspti
