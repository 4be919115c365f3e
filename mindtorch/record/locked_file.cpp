// The file of a spilling session.
#include "mindtorch/record/locked_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/own_descriptors.h"

namespace mindtorch::record {

LockedFile::LockedFile(const std::string& path) : path_(path) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw_io_error("record.prepare", "start a thread to write", path_, error.code().value());
  }
  ::pthread_setname_np(thread_.native_handle(), "mindtorch-file");
  std::exception_ptr failure;
  auto work = [&] {
    try {
      open();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  on_thread(std::ref(work));
  if (!failure) return;
  on_thread({});
  thread_.join();
  std::rethrow_exception(failure);
}

LockedFile::~LockedFile() {
  on_thread({});
  thread_.join();
}

void LockedFile::run() {
  // If the kernel refuses, the descriptor is one of the program's: find_file() is prepared for that.
  own_descriptors();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait(lock, [this] { return ending_ || call_ != nullptr; });
    if (call_ == nullptr) break;
    call_();
    call_ = nullptr;
    changed_.notify_all();
  }
  if (fd_ >= 0 && identity_of(fd_) == identity_) ::close(fd_);
}

// An empty call ends the thread. A call by reference needs no memory, which there may not be.
void LockedFile::on_thread(std::function<void()> call) noexcept {
  std::unique_lock lock(mutex_);
  if (call == nullptr) {
    ending_ = true;
    changed_.notify_all();
    return;
  }
  call_ = std::move(call);
  changed_.notify_all();
  changed_.wait(lock, [this] { return call_ == nullptr; });
}

void LockedFile::open() {
  fd_ = open_regular_file(path_);
  identity_ = identity_of(fd_);
  const int code = lock_and_empty();
  if (code == 0) return;
  ::close(std::exchange(fd_, -1));
  if (code == EWOULDBLOCK)
    throw IoError(EBUSY, path_, fmt::format("[record.prepare] cannot write the spill file '{}': another recording is writing it", path_));
  throw_io_error("record.prepare", "write the spill file", path_, code);
}

// The file is emptied only once we hold its lock, because another process may be recording into it.
int LockedFile::lock_and_empty() { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0 && ::ftruncate(fd_, 0) == 0 ? 0 : errno; }

int LockedFile::find_file() noexcept {
  if (identity_of(fd_) == identity_) return 0;
  fd_ = -1;  // the number belongs to the program now, so it is not closed
  const int fd = ::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno;
  if (identity_of(fd) != identity_ || ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return ESTALE;
  }
  fd_ = fd;
  return 0;
}

LockedFile::Written LockedFile::append(std::span<const char> bytes) noexcept {
  Written written;
  auto work = [&] { written = append_here(bytes); };
  on_thread(std::ref(work));
  return written;
}

LockedFile::Written LockedFile::append_here(std::span<const char> bytes) noexcept {
  Written written{.bytes = 0, .error = find_file()};
  while (written.error == 0 && written.bytes < bytes.size()) {
    // This is nearly always one call. After a short write, the next call returns the error.
    const ssize_t count = ::pwrite(fd_, bytes.data() + written.bytes, bytes.size() - written.bytes, static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      written.error = count < 0 ? errno : EIO;
      break;
    }
    written.bytes += static_cast<std::size_t>(count);
    size_ += static_cast<std::uint64_t>(count);
  }
  return written;
}

int LockedFile::cut(std::uint64_t size) noexcept {
  int code = 0;
  auto work = [&] { code = cut_here(size); };
  on_thread(std::ref(work));
  return code;
}

int LockedFile::cut_here(std::uint64_t size) noexcept {
  if (const int code = find_file(); code != 0) return code;
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return errno;
  size_ = size;
  return 0;
}

}  // namespace mindtorch::record
