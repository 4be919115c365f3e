// Reading a file into memory.
#include "mindtorch/ingest/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "mindtorch/base/error.h"
#include "mindtorch/base/large_pages.h"
#include "mindtorch/ingest/read_limits.h"

namespace mindtorch::ingest {
namespace {

class OpenFile {
 public:
  OpenFile(std::string_view where, const std::string& path)
      : where_(where), path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) throw_io_error(where_, "read", path_, errno);
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::size_t size() const {
    struct stat about {};
    if (::fstat(fd_, &about) != 0) throw_io_error(where_, "read", path_, errno);
    if (S_ISDIR(about.st_mode)) throw_io_error(where_, "read", path_, EISDIR);
    // A pipe has no size, and a device may have no end.
    if (!S_ISREG(about.st_mode)) throw_error<InvalidArgument>(where_, "'{}' is not a regular file", path_);
    return static_cast<std::size_t>(about.st_size);
  }

  // Fills at most `size` bytes at `to`; returns how many. Fewer mean that the file has become shorter.
  std::size_t read(char* to, std::size_t size) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::read(fd_, to + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_io_error(where_, "read", path_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  std::string_view where_;
  const std::string& path_;
  int fd_;
};

}  // namespace

FileBytes::FileBytes(std::string_view where, const std::string& path, const ReadOptions& options) {
  const OpenFile file(where, path);
  const std::size_t size = file.size();
  if (options.max_memory != 0 && size > options.max_memory)
    throw_needs_memory(where, path, options.max_memory, {options.max_memory, "file", "its bytes"});
  bytes_ = std::make_unique_for_overwrite<char[]>(size);
  prefer_large_pages(bytes_.get(), size);
  size_ = file.read(bytes_.get(), size);
}

}  // namespace mindtorch::ingest
