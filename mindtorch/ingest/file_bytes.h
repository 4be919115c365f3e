// A file that is open for reading, and its bytes in memory of our own, which stay whole whatever other processes do to the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mindtorch/ingest/read_options.h"

namespace mindtorch::ingest {

class InputFile {
 public:
  // Throws IoError if the file cannot be read, and InvalidArgument if it is not a regular file; the errors name `where`.
  InputFile(std::string_view where, const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // When it was opened.
  std::size_t size() const { return size_; }
  // Fills at most `size` bytes at `to` with those from `offset` on; returns how many. Fewer mean that the file has become shorter. Any
  // thread may call it. Throws IoError.
  std::size_t read(char* to, std::size_t size, std::size_t offset) const;

 private:
  std::string where_, path_;
  int fd_;
  std::size_t size_ = 0;
};

// Reads a regular file as long as it was when it was opened; if it becomes shorter meanwhile, up to its new end. The file is not mapped,
// because a page of a mapped file that another process cuts off ends the reader with SIGBUS.
class FileBytes {
 public:
  // Throws IoError if the file cannot be read, InvalidArgument if it is not a regular file, and Error if it is larger than the memory that
  // `options` allow; the errors name `where`.
  FileBytes(std::string_view where, const std::string& path, const ReadOptions& options);

  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace mindtorch::ingest
