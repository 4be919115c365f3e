// Errors: the parts that need not be in the header.
#include "mindtorch/base/error.h"

#include <cstring>

namespace mindtorch {

void throw_io_error(std::string_view where, std::string_view action, const std::string& path, int code) {
  throw IoError(code, path, fmt::format("[{}] cannot {} '{}': {}", where, action, path, std::strerror(code)));
}

}  // namespace mindtorch
