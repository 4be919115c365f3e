// The smallest complete program: fits a plane with the embedded runtime under the profiler, prints the table and writes the trace.
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "mindtorch/profiler/profiler.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mt = mindtorch;
namespace prof = mindtorch::profiler;

// Points that lie on the plane y = 3a - 2b + c.
static mt::Tensor points(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < 3 * count; ++i) values.push_back(std::sin(static_cast<float>(i * i)));
  return mt::tensor(values, {count, 3});
}

int main(int argc, char** argv) {
  const std::string trace_path = argc > 1 ? argv[1] : "quickstart.json.gz";
  const mt::Tensor x = points(4096);
  const mt::Tensor y = x.mm(mt::tensor(std::vector<float>{3, -2, 1}, {3, 1}));
  const mt::Tensor weights = mt::zeros({3, 1}, {.requires_grad = true});

  prof::Profile p({.schedule = prof::schedule({.wait = 5, .warmup = 5, .active = 40, .repeat = 1}), .record_shapes = true});
  p.start();
  double loss_now = 0;
  for (int step = 0; step < 50; ++step) {
    mt::Tensor loss;
    {
      prof::RecordFunction scope("forward");
      const mt::Tensor error = x.mm(weights) - y;
      loss = (error * error).mean();
    }
    loss.backward();
    {
      const mt::NoGradGuard no_grad;
      weights.sub_(weights.grad(), 0.5);
      weights.set_grad({});
    }
    loss_now = loss.item<double>();
    p.step();
  }
  p.stop();

  fmt::print("{}", p.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 8}));
  p.export_chrome_trace(trace_path);
  fmt::print("loss {:.2e}; trace written to {}\n", loss_now, trace_path);
  return loss_now < 1e-3 ? 0 : 1;
}
