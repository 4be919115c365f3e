// LockedFile: the file of a spilling session, held where the program cannot close it. Internal to record.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "mindtorch/base/file.h"
#include "mindtorch/trace/chunk_file.h"

namespace mindtorch::record {

// A file that this session alone writes. A file that another session is writing is refused, and so is everything but a regular file; the
// content of an earlier recording is dropped.
//
// The descriptor lives in the table of a thread that does nothing else (own_descriptors()). The program may close all descriptors and use
// their numbers again, and its children may outlive it: neither reaches the file. Where the kernel refuses such a table, each call makes
// sure that the number still names the file, and opens the path again if it does not.
class LockedFile final : public trace::ChunkTarget {
 public:
  // Throws IoError.
  explicit LockedFile(const std::string& path);
  ~LockedFile() override;
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  Written append(std::span<const char> bytes) noexcept override;
  int cut(std::uint64_t size) noexcept override;

 private:
  void run();
  // Runs the call on the thread and waits until it has returned.
  void on_thread(std::function<void()> call) noexcept;

  // On the thread.
  void open();
  int lock_and_empty();
  Written append_here(std::span<const char> bytes) noexcept;
  int cut_here(std::uint64_t size) noexcept;
  // Makes fd_ name the file. Returns errno, or 0.
  int find_file() noexcept;

  const std::string path_;
  int fd_ = -1;
  FileIdentity identity_;
  std::uint64_t size_ = 0;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::function<void()> call_;  // empty: there is nothing to do
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mindtorch::record
