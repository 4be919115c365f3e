// Mapping of files.
#include "mindtorch/ingest/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "mindtorch/base/error.h"

namespace mindtorch::ingest {
namespace {

class OpenFile {
 public:
  OpenFile(std::string_view where, const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat about {};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0) throw_io_error(where, "read", path, errno);
    if (S_ISDIR(about.st_mode)) throw_io_error(where, "read", path, EISDIR);
    size_ = static_cast<std::size_t>(about.st_size);
  }
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }
  std::size_t size() const { return size_; }

 private:
  int fd_;
  std::size_t size_ = 0;
};

}  // namespace

MappedFile::MappedFile(std::string_view where, const std::string& path) {
  const OpenFile file(where, path);
  if (file.size() == 0) return;
  void* const data = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.fd(), 0);
  if (data == MAP_FAILED) throw_io_error(where, "map", path, errno);
  data_ = data;
  size_ = file.size();
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace mindtorch::ingest
