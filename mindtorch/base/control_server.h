// The thread of a control socket that waits for clients, and what it shares with the other two.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "mindtorch/base/control_connection.h"
#include "mindtorch/base/control_socket.h"

namespace mindtorch::control {

// What the threads share. It outlives all of them, and a forked child never touches it: its mutex may stay locked there.
struct Shared {
  using Message = std::pair<ControlSocket::Token, std::string>;

  Shared(ControlSocket::Ask new_ask, const ControlLimits& new_limits) : ask(std::move(new_ask)), limits(new_limits) {}

  const ControlSocket::Ask ask;
  const ControlLimits limits;
  std::mutex mutex;
  std::condition_variable changed;  // any of the following
  bool has_started = false;
  int failure = 0;  // errno of a start that has failed, and the text
  std::string failure_text;
  std::deque<Message> requests;
  std::deque<Message> replies;
  bool rings = false;  // there is something new for the thread that waits for clients
  bool closes = false;
  bool is_lost = false;
  int threads = 0;  // that have not ended
  std::thread::id asking;

  // Changes something that others wait for.
  template <class Change>
  void change(Change make) {
    const std::lock_guard locked(mutex);
    make();
    changed.notify_all();
  }
};

// Waits for clients, takes their requests and sends them the replies.
class Server {
 public:
  // `is_apart`: the thread has a descriptor table of its own. Throws IoError.
  Server(Shared& shared, const std::string& path, bool is_apart);

  // Returns when close() was called, or when the program has closed the socket.
  void run();
  // Wakes run() up when there is something new, until end_ringing(). On a thread of its own, which shares the table.
  void ring();
  void end_ringing();

 private:
  bool is_closing();
  bool accepts(Clock::time_point now) const;
  void make_room();
  void turn(bool takes_clients);
  int timeout_ms(Clock::time_point now) const;
  void empty_bell();
  void accept(Clock::time_point now);
  void hand_over_requests();
  void send_replies();
  void send_last_replies();

  Shared& shared_;
  const bool is_apart_;
  Listener listener_;
  Descriptor hears_;  // the two ends of the bell
  Descriptor rings_;
  std::list<Connection> connections_;
  ControlSocket::Token next_token_ = 1;
  Clock::time_point accepts_from_{};
  bool has_ended_ = false;
};

}  // namespace mindtorch::control
