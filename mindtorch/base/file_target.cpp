// Decides what a path that is about to be written stands for.
#include "mindtorch/base/file_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "mindtorch/base/error.h"

namespace mindtorch {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as many as the kernel follows

std::string_view kind_name(mode_t mode) {
  if (S_ISFIFO(mode)) return "FIFO";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISBLK(mode)) return "block device";
  if (S_ISCHR(mode)) return "character device";
  return "special file";
}

// The path behind the symbolic links that `path` itself may be. Links among its folders are left to the kernel.
fs::path behind_links(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code code;
    const fs::path next = fs::read_symlink(at, code);
    if (code) return at;  // not a link, or not there at all
    at = at.parent_path() / next;
  }
  throw_io_error("file.write", "write", path, ELOOP);
}

bool is_same_file(const struct stat& left, const struct stat& right) { return left.st_dev == right.st_dev && left.st_ino == right.st_ino; }

// The folder and name of a regular file, or of a file that does not exist yet.
FileTarget find_regular(const std::string& path, const std::optional<struct stat>& existing) {
  const fs::path real = behind_links(path);
  FileTarget target;
  target.name = real.filename().string();
  target.existing = existing;
  if (target.name.empty()) throw_io_error("file.write", "write", path, path.empty() ? ENOENT : EISDIR);
  const std::string folder = real.has_parent_path() ? real.parent_path().string() : ".";
  target.folder = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (target.folder < 0) throw_io_error("file.write", "write", path, errno);
  // Links in /proc/self/fd may name a file that was deleted: nothing can be put in its place.
  struct stat found {};
  const bool is_found = ::fstatat(target.folder, target.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (existing && !(is_found && is_same_file(found, *existing))) {
    ::close(target.folder);
    throw_io_error("file.write", "write", path, ENOENT);
  }
  return target;
}

}  // namespace

void check_file_kind(mode_t mode, const std::string& path, bool allow_device) {
  if (S_ISREG(mode) || (allow_device && S_ISCHR(mode))) return;
  if (S_ISDIR(mode)) throw_io_error("file.write", "write", path, EISDIR);
  throw IoError(EINVAL, path,
                fmt::format("[file.write] cannot write '{}': it is a {}; only regular files{} can be written", path, kind_name(mode),
                            allow_device ? " and character devices" : ""));
}

void check_path(const std::string& path, std::string_view where) {
  if (const std::size_t nul = path.find('\0'); nul != std::string::npos)
    throw_error<InvalidArgument>(where, "the path '{}...' holds a NUL byte", path.substr(0, nul));
}

FileTarget find_target(const std::string& path) {
  check_path(path, "file.write");
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0) check_file_kind(about.st_mode, path, true);  // opening a FIFO would wait for a reader
  // The kernel decides whether this process may write here. It follows links only where its protection of shared folders allows that.
  const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT) throw_io_error("file.write", "write", path, errno);
    return find_regular(path, std::nullopt);
  }
  if (::fstat(fd, &about) == 0 && S_ISCHR(about.st_mode)) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    FileTarget target;
    target.device = fd;
    return target;
  }
  ::close(fd);
  check_file_kind(about.st_mode, path, false);
  return find_regular(path, about);
}

}  // namespace mindtorch
