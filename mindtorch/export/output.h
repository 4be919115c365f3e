// Where exporters write: a large buffer in front of a file that appears whole or not at all; a path ending in ".gz" is compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// Full buffers are compressed and written by a second thread while the caller formats the next one, so the text never exists as a whole, in
// memory or on disk. A compressed file is a sequence of gzip members, one per buffer, as RFC 1952 allows.
// Every failure throws IoError naming the path, from the call that notices it (a write of the second thread: the next call). Destroyed
// without commit() it leaves whatever stood at the path untouched. One thread at a time.
class MINDTORCH_EXPORT Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Room for `size` bytes; the caller fills it and says with advance() where it stopped. Valid until the next call of reserve() or
  // append().
  char* reserve(std::size_t size) {
    if (static_cast<std::size_t>(limit_ - at_) < size) [[unlikely]]
      next_block(size);
    return at_;
  }
  void advance(char* end) { at_ = end; }

  void append(std::string_view bytes);

  // Writes what is left and puts the file in place.
  void commit();

  // Bytes handed over so far, before compression.
  std::size_t size() const { return handed_over_ + static_cast<std::size_t>(at_ - begin_); }

 private:
  class Worker;
  void next_block(std::size_t size);

  std::unique_ptr<Worker> worker_;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* limit_ = nullptr;
  std::size_t handed_over_ = 0;
};

// Writes `bytes` to `path` in one go, compressed if the path says so.
MINDTORCH_EXPORT void write_output(const std::string& path, std::string_view bytes);

}  // namespace mindtorch::exporter
