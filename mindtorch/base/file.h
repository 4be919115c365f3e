// Files that appear whole or not at all, and reading a file with a clear error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mindtorch {

// Writes to a temporary file beside `path` and renames it over `path` in commit(). Destroyed without commit (or after an error) it removes
// the temporary file and leaves whatever stood at `path` untouched. Every failure throws IoError naming `path` and the cause.
// Not thread safe.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Writes all bytes (retries short writes and EINTR). Unbuffered: hand it large pieces.
  void write(const void* data, std::size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  // Closes and renames; after this the new file is in place.
  void commit();

  const std::string& path() const noexcept { return path_; }
  // The temporary file, for writers that work on a descriptor; -1 after commit().
  int fd() const noexcept { return fd_; }

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

// The whole file as bytes. Throws IoError.
std::string read_file(const std::string& path);

// Creates `path` and its parents. Throws IoError.
void make_directories(const std::string& path);

}  // namespace mindtorch
