// The kernel copies, as for a debugger: an address without memory behind it is an error of the call.
#include "python/src/sampling/own_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mindtorch::python {

bool read_parts(std::span<const MemoryPart> parts) noexcept {
  std::array<iovec, kMostParts> local, remote;
  std::size_t count = 0;
  ssize_t bytes = 0;
  for (const MemoryPart& part : parts.first(std::min(parts.size(), kMostParts))) {
    local[count] = {part.to, part.bytes};
    remote[count++] = {reinterpret_cast<void*>(part.from), part.bytes};
    bytes += static_cast<ssize_t>(part.bytes);
  }
  return ::process_vm_readv(::getpid(), local.data(), count, remote.data(), count, 0) == bytes;
}

bool read_memory(Address from, void* to, std::size_t bytes) noexcept {
  const MemoryPart part{from, to, bytes};
  return read_parts({&part, 1});
}

bool can_read_memory() noexcept {
  const int written = 17;
  int read = 0;
  return read_value(reinterpret_cast<Address>(&written), read) && read == written;
}

}  // namespace mindtorch::python
