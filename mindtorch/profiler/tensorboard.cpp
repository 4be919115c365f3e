// tensorboard_trace_handler(): names and directory.
#include "mindtorch/profiler/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/profiler/job_metadata.h"
#include "mindtorch/profiler/profile.h"

namespace mindtorch::profiler {
namespace {

std::string default_worker_name() {
  const std::string name = fmt::format("{}_{}", host_name(), ::getpid());
  const auto launched = launched_rank();
  return launched ? fmt::format("{}_rank{}", name, launched->rank) : name;
}

void ensure_directory(const std::string& path) {
  if (path.empty()) return;  // the current one
  try {
    make_directories(path);
  } catch (const IoError& error) {
    throw Error(fmt::format("Can't create directory: {} ({})", path, error.what()));
  }
}

// Returns the current time, but always later than any earlier result in this process. Two files never share a name, even if the wall clock
// is set back or two handlers write into one directory.
std::int64_t next_time_ns() {
  static std::atomic<std::int64_t> last{0};
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  std::int64_t before = last.load();
  while (!last.compare_exchange_weak(before, std::max(before + 1, now))) {
  }
  return std::max(before + 1, now);
}

}  // namespace

TraceFiles::TraceFiles(std::string dir_name, std::string worker_name, bool use_gzip)
    : dir_name_(std::move(dir_name)), worker_name_(std::move(worker_name)), use_gzip_(use_gzip) {}

std::string TraceFiles::next_path() {
  ensure_directory(dir_name_);
  if (worker_name_.empty()) worker_name_ = default_worker_name();
  const std::string name = fmt::format("{}.{}.pt.trace.json{}", worker_name_, next_time_ns(), use_gzip_ ? ".gz" : "");
  return (std::filesystem::path(dir_name_) / name).string();
}

TraceReadyCallback tensorboard_trace_handler(std::string dir_name, std::string worker_name, bool use_gzip) {
  // Shared by the copies that a std::function makes of its target.
  auto files = std::make_shared<TraceFiles>(std::move(dir_name), std::move(worker_name), use_gzip);
  return [files](Profile& profile) { profile.export_chrome_trace(files->next_path()); };
}

}  // namespace mindtorch::profiler
