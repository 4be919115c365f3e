// Queues of launches: tickets on the op's thread, spans on the thread that launches.
#include "mindtorch/record/launch_queue.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {
namespace {

TEST(LaunchQueue, CostsNothingWhileNothingIsRecorded) {
  EXPECT_EQ(enqueue_launch(intern("enqueue")), 0u);
  { QueuedLaunch launch(0); }
  EXPECT_TRUE(take_queued_spans().empty());
}

TEST(LaunchQueue, TicketsAreCallsOfTheOpAndSpansTellWhichThreadLaunched) {
  auto session = Session::prepare({});
  session->start();
  LaunchTicket first = 0, second = 0;
  {
    OpScope op(intern("op"));
    first = enqueue_launch(intern("enqueue"));
    second = enqueue_launch(intern("enqueue"));
  }
  std::uint32_t launcher = 0;
  std::thread([&] {
    launcher = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    QueuedLaunch launch(first);
  }).join();
  const trace::Recording recording = session->stop();
  EXPECT_NE(first, second);
  const std::vector<QueuedSpan> spans = take_queued_spans();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].thread_id, launcher);
  EXPECT_EQ(spans[0].ticket, first);
  EXPECT_LE(spans[0].begin, spans[0].end);
  std::vector<std::uint64_t> links;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i)
    if (recording.events.kind[i] == trace::EventKind::kRuntime) links.push_back(recording.events.link[i]);
  EXPECT_EQ(links, (std::vector<std::uint64_t>{first, second}));
}

}  // namespace
}  // namespace mindtorch::record
