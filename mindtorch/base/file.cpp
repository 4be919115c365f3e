// Files that appear whole or not at all.
#include "mindtorch/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "mindtorch/base/error.h"

namespace mindtorch {
namespace {

// Unique among the threads of this process; the process id makes it unique among processes.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> next{0};
  return fmt::format("{}.{}.{}.tmp", path, ::getpid(), next.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  struct stat existing {};
  if (::stat(path_.c_str(), &existing) == 0 && S_ISDIR(existing.st_mode)) throw_io_error("file.write", "write", path_, EISDIR);
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_io_error("file.write", "write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
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

void AtomicFile::commit() {
  const int fd = fd_;
  fd_ = -1;
  int code = ::close(fd) == 0 ? 0 : errno;
  if (code == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary_.c_str());
    throw_io_error("file.write", "write", path_, code);
  }
}

std::string read_file(const std::string& path) {
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
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw_io_error("file.make_directories", "create directory", path, code.value());
}

}  // namespace mindtorch
