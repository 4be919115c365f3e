// Reading a file into memory.
#include "mindtorch/ingest/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/large_pages.h"
#include "mindtorch/ingest/read_limits.h"

namespace mindtorch::ingest {
namespace {

// Fills `size` bytes at `to`, each thread a share of them: the first touch of new memory takes as long as the copy from the page cache.
// Returns how many bytes there are before the first one that is missing.
std::size_t read_in_shares(const InputFile& file, char* to, std::size_t size) {
  constexpr std::size_t kWorthAThread = std::size_t{32} << 20;
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const std::size_t shares = std::min({cores, std::size_t{8}, size / kWorthAThread + 1});
  std::vector<std::future<std::size_t>> reads;
  for (std::size_t share = 0; share < shares; ++share) {
    const std::size_t begin = share * size / shares, end = (share + 1) * size / shares;
    const auto policy = share + 1 < shares ? std::launch::async : std::launch::deferred;
    reads.push_back(std::async(policy, [&file, to, begin, end] { return begin + file.read(to + begin, end - begin, begin); }));
  }
  reads.back().wait();
  std::size_t whole = 0;
  for (std::size_t share = 0; share < shares; ++share) {
    const std::size_t end = reads[share].get();
    if (whole == share * size / shares) whole = end;
  }
  return whole;
}

}  // namespace

InputFile::InputFile(std::string_view where, const std::string& path)
    : where_(where), path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) throw_io_error(where_, "read", path_, errno);
  struct stat about {};
  const int error = ::fstat(fd_, &about) != 0 ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
  size_ = static_cast<std::size_t>(about.st_size);
  if (error == 0 && S_ISREG(about.st_mode)) return;
  ::close(fd_);
  if (error != 0) throw_io_error(where_, "read", path_, error);
  // A pipe has no size, and a device may have no end.
  throw_error<InvalidArgument>(where_, "'{}' is not a regular file", path_);
}

InputFile::~InputFile() { ::close(fd_); }

std::size_t InputFile::read(char* to, std::size_t size, std::size_t offset) const {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd_, to + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io_error(where_, "read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

FileBytes::FileBytes(std::string_view where, const std::string& path, const ReadOptions& options) {
  const InputFile file(where, path);
  const std::size_t size = file.size();
  if (options.max_memory != 0 && size > options.max_memory)
    throw_needs_memory(where, path, options.max_memory, {options.max_memory, "file", "its bytes"});
  bytes_ = std::make_unique_for_overwrite<char[]>(size);
  prefer_large_pages(bytes_.get(), size);
  size_ = read_in_shares(file, bytes_.get(), size);
}

}  // namespace mindtorch::ingest
