// The bytes of a file in memory of our own, which stay whole whatever other processes do to the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mindtorch/ingest/read_options.h"

namespace mindtorch::ingest {

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
