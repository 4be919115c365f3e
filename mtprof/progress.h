// A line on the terminal while something takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mindtorch::mtprof {

// From construction to destruction: after half a second, and only if stderr is a terminal, shows what is going on and for how long. Leaves
// no trace on the screen.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace mindtorch::mtprof
