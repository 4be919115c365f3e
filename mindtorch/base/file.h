// Files that appear whole or not at all, and reading a file with a clear error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/base/file_target.h"

namespace mindtorch {

// Which file a descriptor names. A program may close descriptors that are not its own, as daemons do, and the number then names a file of
// the program. Code that keeps a descriptor compares before it writes or closes.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// Of what `fd` names now; all zero, which no file is, if it is not open.
MINDTORCH_EXPORT FileIdentity identity_of(int fd) noexcept;

// Writes to a temporary file in the folder of `path` and renames it over `path` in commit(). If it is destroyed without commit(), or after
// an error, it removes the temporary file and leaves whatever stood at `path` untouched.
// - A symbolic link stays, and the file it names is replaced.
// - A new file that replaces an old one gets its mode, owner and group. If this process may not give them, that is an error.
// - A character device such as /dev/null is written directly: there is nothing to replace, and bytes written before an error stay written.
// - Directories, FIFOs, sockets and block devices are refused.
// - The temporary file has a random name, so one that a killed process left behind does not disturb later writers.
// Every failure throws IoError with `path` and the cause, except that a path with a NUL byte throws InvalidArgument. Not thread safe.
class MINDTORCH_EXPORT AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Writes all bytes (retries short writes and EINTR). Unbuffered: hand it large pieces.
  void write(const void* data, std::size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  // Closes and renames; after this the new file is in place. If file_sync() is on, it is also on the disk.
  void commit();

  const std::string& path() const noexcept { return path_; }
  // The temporary file or the device, for writers that work on a descriptor; -1 after commit().
  int fd() const noexcept { return fd_; }

 private:
  bool is_device() const noexcept { return target_.device >= 0; }
  bool is_ours() const noexcept { return identity_of(fd_) == identity_; }
  void create_temporary();
  int take_owner_and_mode() const;
  int put_in_place();
  void close_all() noexcept;

  std::string path_;
  FileTarget target_;
  std::string temporary_;  // in the folder of the target; empty if there is none
  int fd_ = -1;
  FileIdentity identity_;         // of fd_
  FileIdentity folder_identity_;  // of the target's folder
};

// Opens the regular file at `path` for writing in place and creates it if it is missing; for files that must be readable while they grow.
// The content of an existing file is untouched, and so are its mode and owner: the caller truncates it once it knows that it may. Symbolic
// links are followed. Everything but a regular file is refused with the same errors as AtomicFile's. The caller closes the descriptor.
MINDTORCH_EXPORT int open_regular_file(const std::string& path);

// Whether commit() waits until the new file would survive a loss of power: it then calls fsync(2) for the file and its folder. Off, unless
// somebody has switched it on. Process-wide; any thread.
MINDTORCH_EXPORT bool file_sync() noexcept;
MINDTORCH_EXPORT void set_file_sync(bool on) noexcept;

// The whole file as bytes. Throws IoError, or InvalidArgument for a path with a NUL byte.
MINDTORCH_EXPORT std::string read_file(const std::string& path);

// Creates `path` and its parents. Throws IoError, or InvalidArgument for a path with a NUL byte.
MINDTORCH_EXPORT void make_directories(const std::string& path);

}  // namespace mindtorch
