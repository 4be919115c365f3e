// A thread that redraws one line.
#include "mtprof/progress.h"

#include <unistd.h>

#include <chrono>
#include <string_view>
#include <system_error>

#include "mtprof/messages.h"

namespace mindtorch::mtprof {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 500ms, kInterval = 100ms;
constexpr std::string_view kWheel = "|/-\\";

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) != 1) return;
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {
    // Without another thread the command works in silence.
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kPatience, [&] { return done_; })) return;
  for (std::size_t turn = 0; !done_; ++turn) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    print_message("\r{} {} ({:.1f} s)\033[K", kWheel[turn % kWheel.size()], what_, elapsed.count());
    std::fflush(stderr);
    changed_.wait_for(lock, kInterval, [&] { return done_; });
  }
  print_message("\r\033[K");
  std::fflush(stderr);
}

}  // namespace mindtorch::mtprof
