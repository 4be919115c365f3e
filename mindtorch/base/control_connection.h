// The descriptors of a control socket: its file, and the connections of its clients.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "mindtorch/base/control_socket.h"

namespace mindtorch::control {

using Clock = std::chrono::steady_clock;

// A descriptor that knows which file or socket it was opened for. Where the kernel gives the thread no table of its own, the program can
// close the number and use it again: it is then neither used nor closed here.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept;
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int number() const noexcept { return number_; }
  bool is_ours() const noexcept;

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// The socket at which clients ask for a connection, and its file.
class Listener {
 public:
  // Throws IoError.
  explicit Listener(const std::string& path);
  ~Listener();  // removes the file, unless another process has replaced it
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const Descriptor& socket() const noexcept { return socket_; }

 private:
  void bind_to(const std::string& path);

  std::string path_;
  Descriptor socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// One client: its request is read, waits for the reply, gets it, and then what the client still sends is read away, because closing a
// socket with unread bytes takes the reply from the client.
class Connection {
 public:
  Connection(Descriptor socket, ControlSocket::Token token, const ControlLimits& limits, Clock::time_point now);

  const Descriptor& socket() const noexcept { return socket_; }
  ControlSocket::Token token() const noexcept { return token_; }
  // What poll() should look for.
  short wanted_events() const noexcept;
  // Does what poll() says can be done.
  void advance(short events, Clock::time_point now);
  // The request, once.
  std::optional<std::string> take_request();
  void reply(std::string line, Clock::time_point now);
  // The client has gone, or has taken longer than it may.
  bool is_over(Clock::time_point now) const noexcept { return state_ == State::kOver || now >= deadline_; }
  bool is_waiting() const noexcept { return state_ == State::kWaiting; }
  bool is_writing() const noexcept { return state_ == State::kWriting; }
  bool has_reply() const noexcept { return state_ == State::kDraining; }
  Clock::time_point deadline() const noexcept { return deadline_; }

 private:
  enum class State : std::uint8_t { kReading, kWaiting, kWriting, kDraining, kOver };

  void read(Clock::time_point now);
  void take(const char* bytes, std::size_t count, Clock::time_point now);
  void request_is_complete(Clock::time_point now);
  void write(Clock::time_point now);
  void drain();

  Descriptor socket_;
  ControlSocket::Token token_;
  ControlLimits limits_;
  State state_ = State::kReading;
  Clock::time_point deadline_;
  std::string request_;
  std::size_t received_ = 0;
  bool has_request_ = false;
  std::string reply_;
  std::size_t sent_ = 0;
};

}  // namespace mindtorch::control
