// Every turn waits for something to happen, does it, and looks at what the other threads want.
#include "mindtorch/base/control_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch::control {
namespace {

constexpr const char* kNoReply = R"({"error": "the monitor has ended"})";
constexpr std::chrono::milliseconds kTryAgain{100};     // after the kernel could not give a connection
constexpr std::chrono::milliseconds kLook{500};         // for a bell that the program may have closed
constexpr std::chrono::milliseconds kLastWords{1'000};  // to send the last replies

}  // namespace

Server::Server(Shared& shared, const std::string& path, bool is_apart) : shared_(shared), is_apart_(is_apart), listener_(path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_io_error("control.open", "make a pipe for", path, errno);
  hears_ = Descriptor(ends[0]);
  rings_ = Descriptor(ends[1]);
}

void Server::run() {
  while (!is_closing()) {
    if (!listener_.socket().is_ours() || !hears_.is_ours()) {
      const std::lock_guard locked(shared_.mutex);
      shared_.is_lost = true;
      return;
    }
    turn(true);
    hand_over_requests();
    send_replies();
  }
  send_last_replies();
}

void Server::ring() {
  std::unique_lock locked(shared_.mutex);
  while (true) {
    shared_.changed.wait(locked, [&] { return shared_.rings || has_ended_; });
    if (has_ended_) return;
    shared_.rings = false;
    if (rings_.is_ours()) static_cast<void>(::write(rings_.number(), "", 1));  // a full pipe rings as well
  }
}

void Server::end_ringing() {
  const std::lock_guard locked(shared_.mutex);
  has_ended_ = true;
  shared_.changed.notify_all();
}

bool Server::is_closing() {
  const std::lock_guard locked(shared_.mutex);
  return shared_.closes;
}

bool Server::accepts(Clock::time_point now) const {
  return now >= accepts_from_ &&
         (connections_.size() < shared_.limits.connections ||
          std::any_of(connections_.begin(), connections_.end(), [](const Connection& each) { return each.has_reply(); }));
}

// A client that has its reply can be left for one that has none.
void Server::make_room() {
  if (connections_.size() < shared_.limits.connections) return;
  connections_.erase(std::find_if(connections_.begin(), connections_.end(), [](const Connection& each) { return each.has_reply(); }));
}

// Waits until something happens, and does it.
void Server::turn(bool takes_clients) {
  const Clock::time_point now = Clock::now();
  const bool listens = takes_clients && accepts(now);
  std::vector<pollfd> events = {{hears_.number(), POLLIN, 0}, {listener_.socket().number(), static_cast<short>(listens ? POLLIN : 0), 0}};
  for (const Connection& each : connections_) events.push_back({each.socket().number(), each.wanted_events(), 0});
  if (::poll(events.data(), events.size(), timeout_ms(now)) < 0) return;
  const Clock::time_point then = Clock::now();
  if (events[0].revents != 0) empty_bell();
  auto event = events.begin() + 2;
  for (Connection& each : connections_) each.advance((event++)->revents, then);
  connections_.remove_if([&](const Connection& each) { return each.is_over(then); });
  if (listens && events[1].revents != 0) accept(then);
}

int Server::timeout_ms(Clock::time_point now) const {
  Clock::time_point next = is_apart_ ? Clock::time_point::max() : now + kLook;
  if (now < accepts_from_) next = accepts_from_;
  for (const Connection& each : connections_) next = std::min(next, each.deadline());
  if (next == Clock::time_point::max()) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
}

void Server::empty_bell() {
  std::array<char, 256> rung;
  if (hears_.is_ours()) static_cast<void>(::read(hears_.number(), rung.data(), rung.size()));
}

void Server::accept(Clock::time_point now) {
  while (accepts(now) && listener_.socket().is_ours()) {
    const int number = ::accept4(listener_.socket().number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (number >= 0) {
      make_room();
      connections_.emplace_back(Descriptor(number), next_token_++, shared_.limits, now);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN) accepts_from_ = now + kTryAgain;  // no descriptor or no memory is left; clients wait in the queue
    return;
  }
}

void Server::hand_over_requests() {
  for (Connection& each : connections_) {
    std::optional<std::string> request = each.take_request();
    if (!request) continue;
    const std::lock_guard locked(shared_.mutex);
    shared_.requests.emplace_back(each.token(), std::move(*request));
    shared_.changed.notify_all();
  }
}

void Server::send_replies() {
  std::deque<Shared::Message> replies;
  {
    const std::lock_guard locked(shared_.mutex);
    replies.swap(shared_.replies);
  }
  for (auto& [token, line] : replies) {
    const auto found = std::find_if(connections_.begin(), connections_.end(),
                                    [&, wanted = token](const Connection& each) { return each.token() == wanted && each.is_waiting(); });
    if (found != connections_.end() && found->socket().is_ours()) found->reply(std::move(line), Clock::now());
  }
}

void Server::send_last_replies() {
  send_replies();
  const Clock::time_point began = Clock::now();
  for (Connection& each : connections_)
    if (each.is_waiting() && each.socket().is_ours()) each.reply(kNoReply, began);
  const auto has_replied = [](const Connection& each) { return !each.is_writing(); };
  for (connections_.remove_if(has_replied); !connections_.empty() && Clock::now() < began + kLastWords;) {
    accepts_from_ = Clock::now() + kTryAgain;  // turn() returns by then
    turn(false);
    connections_.remove_if(has_replied);
  }
}

}  // namespace mindtorch::control
