// A Unix socket at which other processes of the same user ask this one: requests and replies of one line each.
//
// The program comes first. Its files cannot be hit: the socket lives in a descriptor table of its own (mindtorch/base/own_descriptors.h).
// It cannot be flooded: the number of connections, the length of a request and the patience with a silent client have bounds. Nothing waits
// for a thread that a fork has left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mindtorch/base/export.h"

namespace mindtorch {

namespace control {
struct Shared;
}

struct ControlLimits {
  std::size_t connections = 128;  // at a time; others wait in the queue of the kernel
  std::size_t request_bytes = std::size_t{1} << 16;
  std::chrono::milliseconds silence{10'000};  // for a request to arrive, and for a reply to be taken
};

class MINDTORCH_EXPORT ControlSocket {
 public:
  // Names one request until it has its reply.
  using Token = std::uint64_t;
  // Gets a request, on a thread that uses the descriptors of the program. reply() may be called then or later, once, on any thread.
  using Ask = std::function<void(Token, const std::string& line)>;

  // Binds the socket; its file appears when requests are accepted, with mode 0600, and replaces an older one of that name. Throws IoError.
  ControlSocket(const std::string& path, Ask ask, const ControlLimits& limits = {});
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Does nothing if the client has gone meanwhile.
  void reply(Token token, std::string line);

  // Removes the file, sends what reply() was given, tells the other clients that there will be no reply, and ends. May be repeated. In a
  // forked child it does nothing: socket and file are those of the parent.
  void close() noexcept;

  // True after the program has closed the socket, which it can only where the kernel has no separate tables.
  bool is_lost() const noexcept;

 private:
  std::shared_ptr<control::Shared> shared_;
  pid_t process_;
};

}  // namespace mindtorch
