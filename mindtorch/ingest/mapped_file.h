// A file as bytes in memory, without copying it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mindtorch::ingest {

class MappedFile {
 public:
  // Throws IoError, naming `where`.
  MappedFile(std::string_view where, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mindtorch::ingest
