// Three threads serve the socket. One waits for clients, in a descriptor table of its own. The second rings a bell in that table when there
// is a reply to send, because threads of the program cannot reach it. The third hands requests to the program, and uses its descriptors.
#include "mindtorch/base/control_socket.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "mindtorch/base/control_server.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/own_descriptors.h"

namespace mindtorch {
namespace control {
namespace {

constexpr std::chrono::milliseconds kMostClosing{5'000};  // more than the thread needs

// The thread that waits for clients.
void serve(Shared& shared, const std::string& path) {
  const bool is_apart = own_descriptors();  // where the kernel refuses, each descriptor is looked at before it is used
  std::optional<Server> server;
  std::thread bell;
  const auto report = [&](int code, const char* text) {
    shared.change([&] {
      shared.failure = code;
      shared.failure_text = text;
    });
  };
  try {
    server.emplace(shared, path, is_apart);
    bell = std::thread([&server] { server->ring(); });
  } catch (const IoError& error) {
    return report(error.code(), error.what());
  } catch (const std::system_error& error) {
    return report(error.code().value(), "[control.open] cannot start a thread for the control socket");
  } catch (const std::exception&) {
    return report(ENOMEM, "[control.open] no memory for the control socket");
  }
  shared.change([&] { shared.has_started = true; });
  try {
    server->run();
  } catch (const std::exception&) {  // no memory
    shared.change([&] { shared.is_lost = true; });
  }
  server->end_ringing();
  bell.join();
}

void add_reply(Shared& shared, ControlSocket::Token token, std::string line) {
  shared.change([&] {
    shared.replies.emplace_back(token, std::move(line));
    shared.rings = true;
  });
}

// The thread that hands requests to the program.
void hand_to_program(Shared& shared) {
  std::unique_lock locked(shared.mutex);
  shared.asking = std::this_thread::get_id();
  while (true) {
    shared.changed.wait(locked, [&] { return !shared.requests.empty() || shared.closes; });
    if (shared.closes) return;
    const Shared::Message message = std::move(shared.requests.front());
    shared.requests.pop_front();
    locked.unlock();
    try {
      shared.ask(message.first, message.second);
    } catch (const std::exception&) {
      try {
        add_reply(shared, message.first, R"({"error": "the process could not handle the request"})");
      } catch (const std::bad_alloc&) {
        // The client waits until it has had enough. An exception would end the program.
      }
    }
    locked.lock();
  }
}

template <class Body>
void start_thread(const std::shared_ptr<Shared>& shared, Body body) {
  shared->change([&] { ++shared->threads; });
  try {
    std::thread([shared, body = std::move(body)] {
      body(*shared);
      shared->change([&] { --shared->threads; });
    }).detach();
  } catch (const std::system_error& error) {
    shared->change([&] { --shared->threads; });
    throw_io_error("control.open", "start a thread for", "the control socket", error.code().value());
  }
}

}  // namespace
}  // namespace control

ControlSocket::ControlSocket(const std::string& path, Ask ask, const ControlLimits& limits)
    : shared_(std::make_shared<control::Shared>(std::move(ask), limits)), process_(::getpid()) {
  control::start_thread(shared_, [path](control::Shared& shared) { control::serve(shared, path); });
  {
    std::unique_lock locked(shared_->mutex);
    shared_->changed.wait(locked, [&] { return shared_->has_started || shared_->failure != 0; });
    if (shared_->failure != 0) throw IoError(shared_->failure, path, shared_->failure_text);
  }
  try {
    control::start_thread(shared_, control::hand_to_program);
  } catch (...) {
    close();
    throw;
  }
}

ControlSocket::~ControlSocket() { close(); }

void ControlSocket::reply(Token token, std::string line) {
  if (process_ == ::getpid()) control::add_reply(*shared_, token, std::move(line));
}

void ControlSocket::close() noexcept {
  if (process_ != ::getpid()) return;
  std::unique_lock locked(shared_->mutex);
  shared_->closes = shared_->rings = true;
  shared_->changed.notify_all();
  const int own = shared_->asking == std::this_thread::get_id() ? 1 : 0;  // called by what the socket has called
  shared_->changed.wait_for(locked, control::kMostClosing, [&] { return shared_->threads <= own; });
}

bool ControlSocket::is_lost() const noexcept {
  if (process_ != ::getpid()) return false;
  const std::lock_guard locked(shared_->mutex);
  return shared_->is_lost;
}

}  // namespace mindtorch
