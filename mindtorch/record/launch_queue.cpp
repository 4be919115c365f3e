// Queues of launches.
#include "mindtorch/record/launch_queue.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "mindtorch/record/hooks.h"

namespace mindtorch::record {
namespace {

// Above every correlation of a vendor, and below 2^53, so that a reader of JSON keeps it exact.
constexpr LaunchTicket kFirstTicket = LaunchTicket{1} << 50;
std::atomic<LaunchTicket> next_ticket{kFirstTicket};

struct Spans {
  std::mutex mutex;
  std::vector<QueuedSpan> all;
};
// Never destroyed: threads may launch until the process ends.
Spans& spans() {
  static auto& it = *new Spans();
  return it;
}

}  // namespace

LaunchTicket enqueue_launch(trace::NameId name) noexcept {
  const std::uint64_t begin = now_ticks();
  if (begin == 0) return 0;
  const LaunchTicket ticket = next_ticket.fetch_add(1, std::memory_order_relaxed);
  record_interval(name, trace::EventKind::kRuntime, begin, now_ticks(), ticket);
  return ticket;
}

QueuedLaunch::QueuedLaunch(LaunchTicket ticket) noexcept : ticket_(ticket), begin_(ticket != 0 ? now_ticks() : 0) {}

QueuedLaunch::~QueuedLaunch() {
  const std::uint64_t end = begin_ != 0 ? now_ticks() : 0;
  if (end == 0) return;
  Spans& it = spans();
  std::lock_guard lock(it.mutex);
  it.all.push_back({static_cast<std::uint32_t>(::syscall(SYS_gettid)), begin_, end, ticket_});
}

std::vector<QueuedSpan> take_queued_spans() {
  Spans& it = spans();
  std::lock_guard lock(it.mutex);
  return std::exchange(it.all, {});
}

}  // namespace mindtorch::record
