// Files that appear whole or not at all.
#include "mindtorch/base/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "mindtorch/base/error.h"

namespace mindtorch {
namespace {

std::atomic<bool>& sync_flag() noexcept {
  static std::atomic<bool> on = false;
  return on;
}

// Random, because process ids repeat: after a restart, in containers, and after a fork. Short, so that it fits beside a name of any length.
std::string random_name(const std::string& path) {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number)
    if (errno != EINTR) throw_io_error("file.write", "write", path, errno);
  return fmt::format(".mindtorch-{:016x}.tmp", number);
}

// Makes the names in a folder survive a loss of power. Returns errno, or 0.
int sync_folder(int folder) {
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return code;
}

}  // namespace

bool file_sync() noexcept { return sync_flag().load(std::memory_order_relaxed); }
void set_file_sync(bool on) noexcept { sync_flag().store(on, std::memory_order_relaxed); }

FileIdentity identity_of(int fd) noexcept {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return {};
  return {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino)};
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(find_target(path_)) {
  if (is_device()) {
    fd_ = target_.device;
    identity_ = identity_of(fd_);
    return;
  }
  folder_identity_ = identity_of(target_.folder);
  try {
    create_temporary();
  } catch (...) {
    close_all();
    throw;
  }
}

AtomicFile::~AtomicFile() { close_all(); }

void AtomicFile::close_all() noexcept {
  if (fd_ >= 0 && is_ours()) ::close(fd_);
  if (target_.folder >= 0 && identity_of(target_.folder) == folder_identity_) {
    if (!temporary_.empty()) ::unlinkat(target_.folder, temporary_.c_str(), 0);
    ::close(target_.folder);
  }
  fd_ = target_.folder = -1;
  temporary_.clear();
}

void AtomicFile::create_temporary() {
  // The content is private until the file has the owner it will keep.
  const mode_t mode = target_.existing ? 0600 : 0666;
  std::string name;
  do {
    name = random_name(path_);
    fd_ = ::openat(target_.folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) throw_io_error("file.write", "write", path_, errno);
  identity_ = identity_of(fd_);
  temporary_ = std::move(name);
  if (const int code = take_owner_and_mode(); code != 0) throw_io_error("file.write", "keep the owner of", path_, code);
}

int AtomicFile::take_owner_and_mode() const {
  if (!target_.existing) return 0;
  const struct stat& existing = *target_.existing;
  struct stat fresh {};
  if (::fstat(fd_, &fresh) != 0) return errno;
  // File systems without owners refuse every call of fchown, even one that changes nothing.
  const bool same_owner = fresh.st_uid == existing.st_uid && fresh.st_gid == existing.st_gid;
  if (!same_owner && ::fchown(fd_, existing.st_uid, existing.st_gid) != 0) return errno;
  return ::fchmod(fd_, existing.st_mode & 07777) == 0 ? 0 : errno;
}

void AtomicFile::write(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  if (!is_ours()) throw_io_error("file.write", "write", path_, EBADF);
  while (size > 0) {
    const ssize_t written = ::write(fd_, bytes, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io_error("file.write", "write", path_, errno);
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

int AtomicFile::put_in_place() {
  if (!is_ours() || (!is_device() && identity_of(target_.folder) != folder_identity_)) return EBADF;
  const bool sync = file_sync() && !is_device();
  int code = sync && ::fsync(fd_) != 0 ? errno : 0;
  if (::close(std::exchange(fd_, -1)) != 0 && code == 0) code = errno;
  if (code != 0 || is_device()) return code;
  // If something else has appeared under the name in the meantime, it is replaced only if it is a file.
  struct stat now {};
  const char* name = target_.name.c_str();
  if (::fstatat(target_.folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(now.st_mode))
    return S_ISDIR(now.st_mode) ? EISDIR : EEXIST;
  if (::renameat(target_.folder, temporary_.c_str(), target_.folder, name) != 0) return errno;
  temporary_.clear();
  return sync ? sync_folder(target_.folder) : 0;
}

void AtomicFile::commit() {
  const int code = put_in_place();
  close_all();
  if (code != 0) throw_io_error("file.write", "write", path_, code);
}

int open_regular_file(const std::string& path) {
  check_path(path, "file.write");
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0) check_file_kind(about.st_mode, path, false);  // opening a FIFO would wait for a reader
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) throw_io_error("file.write", "write", path, errno);
  try {
    if (::fstat(fd, &about) != 0) throw_io_error("file.write", "write", path, errno);
    check_file_kind(about.st_mode, path, false);
  } catch (...) {
    ::close(fd);
    throw;
  }
  return fd;
}

std::string read_file(const std::string& path) {
  check_path(path, "file.read");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io_error("file.read", "read", path, errno);
  std::string bytes;
  struct stat about {};
  if (::fstat(fd, &about) == 0 && about.st_size > 0) bytes.reserve(static_cast<std::size_t>(about.st_size) + 1);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (;;) {
    const std::size_t old_size = bytes.size();
    bytes.resize(old_size + kPiece);
    const ssize_t got = ::read(fd, bytes.data() + old_size, kPiece);
    if (got < 0 && errno == EINTR) {
      bytes.resize(old_size);
      continue;
    }
    if (got < 0) {
      const int code = errno;
      ::close(fd);
      throw_io_error("file.read", "read", path, code);
    }
    bytes.resize(old_size + static_cast<std::size_t>(got));
    if (got == 0) break;
  }
  ::close(fd);
  return bytes;
}

void make_directories(const std::string& path) {
  check_path(path, "file.make_directories");
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw_io_error("file.make_directories", "create directory", path, code.value());
}

}  // namespace mindtorch
