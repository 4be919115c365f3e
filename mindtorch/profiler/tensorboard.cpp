// tensorboard_trace_handler(): names and directory.
#include "mindtorch/profiler/tensorboard.h"

#include <unistd.h>

#include <algorithm>
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

std::string default_worker_name() { return fmt::format("{}_{}", host_name(), ::getpid()); }

void ensure_directory(const std::string& path) {
  if (path.empty()) return;  // the current one
  try {
    make_directories(path);
  } catch (const IoError& error) {
    throw Error(fmt::format("Can't create directory: {} ({})", path, error.what()));
  }
}

// Shared by the copies a std::function makes of its target.
class TraceFiles {
 public:
  TraceFiles(std::string dir_name, std::string worker_name, bool use_gzip)
      : dir_name_(std::move(dir_name)), worker_name_(std::move(worker_name)), use_gzip_(use_gzip) {}

  void write(const Profile& profile) {
    ensure_directory(dir_name_);
    if (worker_name_.empty()) worker_name_ = default_worker_name();
    const std::string name = fmt::format("{}.{}.pt.trace.json{}", worker_name_, next_time_ns(), use_gzip_ ? ".gz" : "");
    profile.export_chrome_trace((std::filesystem::path(dir_name_) / name).string());
  }

 private:
  // Now, but later than ever before: two traces never share a name, even if the wall clock is set back.
  std::int64_t next_time_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    last_time_ns_ = std::max(last_time_ns_ + 1, static_cast<std::int64_t>(std::chrono::nanoseconds(now).count()));
    return last_time_ns_;
  }

  std::string dir_name_;
  std::string worker_name_;
  bool use_gzip_;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace

TraceReadyCallback tensorboard_trace_handler(std::string dir_name, std::string worker_name, bool use_gzip) {
  auto files = std::make_shared<TraceFiles>(std::move(dir_name), std::move(worker_name), use_gzip);
  return [files](Profile& profile) { files->write(profile); };
}

}  // namespace mindtorch::profiler
