// The cost of a question to the replay: a training loop of 20 steps of 10,000 events each, with a kernel for each op.
#include "mindtorch/analyze/replay/what_if.h"

#include <string>
#include <vector>

#include "benchmarks/harness.h"
#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/text.h"

namespace mindtorch {
namespace {

using namespace mindtorch::benchmarks;
using trace::EventKind;

constexpr int kSteps = 20;
constexpr int kOps = 3'333;  // each with a launch and a kernel
constexpr int kRounds = 7;

trace::Recording make_recording() {
  trace::RecordingBuilder builder;
  const trace::TrackId thread = builder.add_thread(100);
  const trace::TrackId stream = builder.add_stream({trace::DeviceType::kCuda, 0}, 7);
  std::int64_t now = 0, free = 0;
  std::uint64_t correlation = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t start = now;
    for (int k = 0; k < kOps; ++k) {
      const std::string name = fmt::format("aten::operator_{}", k % 200);
      builder.add_event({.name = name, .track = thread, .start_ns = now, .duration_ns = 15'000});
      builder.add_event({.name = "cudaLaunchKernel",
                         .kind = EventKind::kRuntime,
                         .track = thread,
                         .start_ns = now + 4'000,
                         .duration_ns = 3'000,
                         .link = ++correlation});
      const std::int64_t begin = std::max(now + 9'000, free + 1'000);
      free = begin + 12'000;
      builder.add_event({.name = "kernel_of_" + name,
                         .kind = EventKind::kKernel,
                         .track = stream,
                         .start_ns = begin,
                         .duration_ns = 12'000,
                         .link = correlation});
      now += 16'000;
    }
    builder.add_event({.name = trace::step_name(step),
                       .kind = EventKind::kStep,
                       .track = thread,
                       .start_ns = start,
                       .duration_ns = now - start,
                       .link = trace::make_step_link(step)});
  }
  return builder.finish();
}

void run() {
  const trace::Recording recording = make_recording();
  const analyze::Analysis analysis(recording);
  const auto ask = [&] { keep(analyze::what_if(analysis, {.scale = {{"kernel:*", 0.5}}})); };
  const auto averages = [&] { keep(analyze::key_averages(analysis)); };
  ask(), averages();
  const Comparison c =
      compare([&] { return cpu_ns_per_op(1, ask) / kSteps / 1e6; }, [&] { return cpu_ns_per_op(1, averages) / kSteps / 1e6; }, kRounds);
  print_result({.name = "what_if/question",
                .ours = c.ours,
                .peer = "key averages",
                .peer_value = c.peer,
                .ratio = c.ratio,
                .unit = "ms",
                .note = "per step of 10,000 events: causes, graph and three replays"});
}

}  // namespace
}  // namespace mindtorch

int main() { mindtorch::run(); }
