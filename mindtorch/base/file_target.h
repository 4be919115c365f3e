// Decides what a path that is about to be written stands for: a regular file, a character device, or something that must not be written.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch {

// The place a writer fills. Symbolic links are followed by the rules of the kernel, so the link stays and the file it names is written.
struct FileTarget {
  int device = -1;                      // a character device, open for writing; -1 if the target is a regular file or does not exist yet
  int folder = -1;                      // the folder of the regular file, open as a path; -1 for a device
  std::string name;                     // of the regular file in `folder`
  std::optional<struct stat> existing;  // the regular file that is there now
};

// The caller owns the descriptors of the result. Throws InvalidArgument for a path with a NUL byte, and IoError for a path that cannot be
// written: a directory, a FIFO, a socket, a block device, or a file that this process has no permission to write.
MINDTORCH_EXPORT FileTarget find_target(const std::string& path);

// Throws IoError unless `mode` (of stat(2)) is that of a regular file, or of a character device where `allow_device` is true.
MINDTORCH_EXPORT void check_file_kind(mode_t mode, const std::string& path, bool allow_device);

// Throws InvalidArgument if `path` holds a NUL byte, which would cut it short in every call of the operating system.
MINDTORCH_EXPORT void check_path(const std::string& path, std::string_view where);

}  // namespace mindtorch
