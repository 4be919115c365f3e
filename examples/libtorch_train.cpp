// Profiles a LibTorch training loop: schedule, steps, the table, a trace. Usage: libtorch_train [--device cpu|cuda] [TRACE]. Built when
// CMake is given a LibTorch
// (-DMINDTORCH_BUILD_TORCH_BRIDGE=ON -DCMAKE_PREFIX_PATH=<libtorch>).
#include <torch/torch.h>

#include <cstdio>
#include <string>

#include "mindtorch/bridges/torch/bridge.h"
#include "mindtorch/profiler/profiler.h"

namespace prof = mindtorch::profiler;

int main(int argc, char** argv) {
  std::string trace_path = "libtorch_train.json.gz";
  torch::Device device(torch::kCPU);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--device" && i + 1 < argc)
      device = torch::Device(argv[++i]);
    else
      trace_path = argv[i];
  }
  if (const char* problem = mindtorch::torch_bridge::activate()) {
    std::fprintf(stderr, "no profile of PyTorch: %s\n", problem);
    return 1;
  }
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(8, 64), torch::nn::GELU(), torch::nn::Linear(64, 1));
  model->to(device);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-2));
  const torch::Tensor x = torch::randn({256, 8}, device);
  const torch::Tensor y = x.sum(1, true).sin();

  prof::Profile p({.schedule = prof::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 1}),
                   .on_trace_ready = [&](prof::Profile& done) { done.export_chrome_trace(trace_path); },
                   .record_shapes = true,
                   .profile_memory = true});
  p.start();
  float first = 0, loss_now = 0;
  for (int step = 0; step < 40; ++step) {
    torch::Tensor loss;
    {
      prof::RecordFunction scope("forward");
      loss = torch::mse_loss(model->forward(x), y);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    loss_now = loss.item<float>();
    if (step == 0) first = loss_now;
    p.step();
  }
  p.stop();

  std::fputs(p.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 10}).c_str(), stdout);
  std::printf("loss %.3f -> %.3f; trace written to %s\n", first, loss_now, trace_path.c_str());
  return loss_now < first ? 0 : 1;
}
