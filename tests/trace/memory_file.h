// A file that lives in memory, for tests that write thousands of them.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace mindtorch::trace {

class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("test", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("memfd_create");
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string bytes() const {
    struct stat about {};
    ::fstat(fd_, &about);
    std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
    if (::pread(fd_, bytes.data(), bytes.size(), 0) != about.st_size) throw std::runtime_error("pread");
    return bytes;
  }

 private:
  int fd_;
};

}  // namespace mindtorch::trace
