// Reading, writing and binding. Every call is made on a descriptor that has just been found to be ours, and none of them blocks.
#include "mindtorch/base/control_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "mindtorch/base/error.h"

namespace mindtorch::control {
namespace {

constexpr const char* kWhere = "control.open";
constexpr int kQueue = 128;                                // clients that the kernel lets wait
constexpr std::size_t kMostRead = std::size_t{16} << 20;   // of a request that is too long
constexpr std::chrono::milliseconds kMostDraining{1'000};  // a client closes its end when it has the reply

bool is_of_this_user(int connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Descriptor::Descriptor(int number) noexcept : number_(number) {
  struct stat about {};
  if (number_ < 0 || ::fstat(number_, &about) != 0) return;
  device_ = about.st_dev;
  inode_ = about.st_ino;
}

Descriptor::~Descriptor() {
  if (is_ours()) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), inode_(other.inode_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

bool Descriptor::is_ours() const noexcept {
  struct stat about {};
  return number_ >= 0 && ::fstat(number_, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
}

Listener::Listener(const std::string& path) : path_(path), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (socket_.number() < 0) throw_io_error(kWhere, "make a socket for", path_, errno);
  // The file gets its name when it is complete: a client that finds it is neither refused nor let in by the mode of the process.
  const std::string unfinished = path_ + ".new";
  bind_to(unfinished);
  struct stat about {};
  if (::chmod(unfinished.c_str(), 0600) != 0 || ::listen(socket_.number(), kQueue) != 0 || ::lstat(unfinished.c_str(), &about) != 0 ||
      std::rename(unfinished.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::unlink(unfinished.c_str());
    throw_io_error(kWhere, "make the socket", path_, code);
  }
  device_ = about.st_dev;
  inode_ = about.st_ino;
}

void Listener::bind_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw_io_error(kWhere, "make the socket", path_, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlink(path.c_str());  // of a process that had this number before, and was killed here
  if (::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw_io_error(kWhere, "make the socket", path_, errno);
}

Listener::~Listener() {
  struct stat about {};
  if (::lstat(path_.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_) ::unlink(path_.c_str());
}

Connection::Connection(Descriptor socket, ControlSocket::Token token, const ControlLimits& limits, Clock::time_point now)
    : socket_(std::move(socket)), token_(token), limits_(limits), deadline_(now + limits.silence) {}

short Connection::wanted_events() const noexcept {
  switch (state_) {
    case State::kReading:
    case State::kDraining: return POLLIN;
    case State::kWriting: return POLLOUT;
    default: return 0;  // poll() tells in any case that the client has gone
  }
}

void Connection::advance(short events, Clock::time_point now) {
  if (!socket_.is_ours()) {
    state_ = State::kOver;
    return;
  }
  if (events == 0) return;
  switch (state_) {
    case State::kReading: return read(now);
    case State::kWriting: return write(now);
    case State::kDraining: return drain();
    default: state_ = State::kOver;  // only errors are told in the other states
  }
}

void Connection::read(Clock::time_point now) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
  if (count > 0) return take(buffer.data(), static_cast<std::size_t>(count), now);
  if (count < 0 && would_block()) return;
  if (count < 0 || received_ == 0) {
    state_ = State::kOver;
  } else {
    request_is_complete(now);  // a client may end its request by closing its half
  }
}

void Connection::take(const char* bytes, std::size_t count, Clock::time_point now) {
  const char* const end = std::find(bytes, bytes + count, '\n');
  const auto length = static_cast<std::size_t>(end - bytes);
  received_ += length;
  request_.append(bytes, std::min(length, limits_.request_bytes - request_.size()));
  if (length < count || received_ > kMostRead) request_is_complete(now);
}

void Connection::request_is_complete(Clock::time_point now) {
  if (!is_of_this_user(socket_.number())) return reply(R"({"error": "only the owner of the process may do this"})", now);
  if (received_ > limits_.request_bytes)
    return reply(fmt::format(R"({{"error": "a request has at most {} bytes, this one is longer"}})", limits_.request_bytes), now);
  state_ = State::kWaiting;
  deadline_ = Clock::time_point::max();
  has_request_ = true;
}

std::optional<std::string> Connection::take_request() {
  if (!std::exchange(has_request_, false)) return std::nullopt;
  return std::exchange(request_, {});
}

void Connection::reply(std::string line, Clock::time_point now) {
  reply_ = std::move(line) + "\n";
  state_ = State::kWriting;
  deadline_ = now + limits_.silence;
  write(now);
}

void Connection::write(Clock::time_point now) {
  const ssize_t count = ::send(socket_.number(), reply_.data() + sent_, reply_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0) {
    if (!would_block()) state_ = State::kOver;
    return;
  }
  sent_ += static_cast<std::size_t>(count);
  if (sent_ < reply_.size()) return;
  ::shutdown(socket_.number(), SHUT_WR);
  state_ = State::kDraining;
  deadline_ = now + std::min(limits_.silence, kMostDraining);
}

void Connection::drain() {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
  if (count == 0 || (count < 0 && !would_block())) state_ = State::kOver;
}

}  // namespace mindtorch::control
