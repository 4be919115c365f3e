// A training program that is simulated: its recording, and what its steps take if something about the program is different.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {

struct SimulatedProgram {
  std::uint32_t seed = 1;
  int steps = 12;
  int ops = 40;                 // per step, each of which launches a kernel
  std::int64_t op_ns = 20'000;  // on the host, about
  std::int64_t kernel_ns = 10'000;
  bool has_backward_thread = true;
  bool synchronises = true;   // at the end of each step
  bool reads_values = true;   // blocking copies to the host in the middle
  std::int64_t batch_ns = 0;  // what the workers of a loader need for a batch; 0: there are none
  // What is different.
  double relu_factor = 1;    // of aten::relu and the kernels that it launches
  double kernel_factor = 1;  // of the time of kernels
  double batch_factor = 1;   // of the time of batches
};

struct Simulation {
  trace::Recording recording;
  std::int64_t step_ns = 0;  // on average, without the first
};

class Simulator {
 public:
  explicit Simulator(const SimulatedProgram& program)
      : program_(program), random_(program.seed), main_(builder_.add_thread(100)), backward_(builder_.add_thread(101)) {
    stream_ = builder_.add_stream({trace::DeviceType::kCuda, 0}, 7);
    copies_ = builder_.add_stream({trace::DeviceType::kCuda, 0}, 14);
  }

  Simulation run() {
    std::vector<std::int64_t> starts;
    for (int step = 0; step < program_.steps; ++step) {
      starts.push_back(now_);
      add_step(step);
    }
    starts.push_back(now_);
    const std::int64_t judged = starts.back() - starts[1];
    return {builder_.finish(), judged / (program_.steps - 1)};
  }

 private:
  // The same for the same seed, whatever is different about the program.
  std::int64_t about(std::int64_t ns) { return ns / 2 + static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(ns)); }

  void add(std::string_view name, trace::EventKind kind, trace::TrackId track, std::int64_t start, std::int64_t end,
           std::uint64_t link = 0) {
    builder_.add_event({.name = name, .kind = kind, .track = track, .start_ns = start, .duration_ns = end - start, .link = link});
  }

  void add_step(int number) {
    const std::int64_t start = now_;
    if (program_.batch_ns > 0) wait_for_batch();
    for (int k = 0; k < program_.ops; ++k) add_op(main_, k % 3 == 0 ? "aten::relu" : "aten::mm", k);
    if (program_.has_backward_thread) {
      now_ += about(8'000);
      for (int k = 0; k < program_.ops; ++k) {
        const std::int64_t from = now_;
        add_op(backward_, "aten::mul", k);
        add("MulBackward0", trace::EventKind::kBackward, backward_, from, now_, trace::make_sequence_link(k));
      }
      now_ += about(8'000);
    }
    if (program_.synchronises) synchronise("cudaStreamSynchronize");
    now_ += about(5'000);
    add(trace::step_name(number), trace::EventKind::kStep, main_, start, now_, trace::make_step_link(number));
  }

  void wait_for_batch() {
    const std::int64_t start = now_;
    batch_done_ += static_cast<std::int64_t>(static_cast<double>(about(program_.batch_ns)) * program_.batch_factor);
    now_ = std::max(now_ + 4'000, batch_done_);
    add("DataLoader.wait", trace::EventKind::kScope, main_, start, now_);
    add("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", trace::EventKind::kScope, main_, start, now_);
  }

  void add_op(trace::TrackId thread, const std::string& name, int k) {
    now_ += about(3'000);  // Python
    const std::int64_t start = now_;
    const double factor = name == "aten::relu" ? program_.relu_factor : 1;
    const auto scaled = [&](std::int64_t ns) { return static_cast<std::int64_t>(static_cast<double>(ns) * factor); };
    now_ += scaled(about(program_.op_ns));
    const bool reads = program_.reads_values && k % 17 == 16 && thread == main_;
    const std::int64_t call = now_;
    ++correlation_;
    if (reads) {
      copy_to_host(call, factor);
    } else {
      now_ += scaled(4'000);
      add("cudaLaunchKernel", trace::EventKind::kRuntime, thread, call, now_, correlation_);
      const std::int64_t begin = std::max(call + 5'000 + about(1'000), stream_free_ + 900);
      stream_free_ = begin + static_cast<std::int64_t>(static_cast<double>(about(program_.kernel_ns)) * program_.kernel_factor * factor);
      add("gemm", trace::EventKind::kKernel, stream_, begin, stream_free_, correlation_);
    }
    now_ += scaled(about(2'000));
    add(name, trace::EventKind::kOp, thread, start, now_);
  }

  void copy_to_host(std::int64_t call, double factor) {
    const std::int64_t begin = std::max(call + 6'000, stream_free_ + 900);
    stream_free_ = begin + static_cast<std::int64_t>(static_cast<double>(about(3'000)) * factor);
    now_ = stream_free_ + about(4'000);
    add("cudaMemcpyAsync", trace::EventKind::kRuntime, main_, call, now_, correlation_);
    add("Memcpy DtoH (Device -> Pageable)", trace::EventKind::kMemcpy, stream_, begin, stream_free_, correlation_);
  }

  void synchronise(std::string_view call) {
    const std::int64_t start = now_;
    now_ = std::max(now_ + 2'000, stream_free_ + about(3'000));
    add(call, trace::EventKind::kRuntime, main_, start, now_, ++correlation_);
  }

  const SimulatedProgram program_;
  std::mt19937 random_;
  trace::RecordingBuilder builder_;
  trace::TrackId main_, backward_, stream_, copies_;
  std::int64_t now_ = 1'000'000, stream_free_ = 0, batch_done_ = 1'000'000;
  std::uint64_t correlation_ = 0;
};

inline Simulation simulate(const SimulatedProgram& program) { return Simulator(program).run(); }

}  // namespace mindtorch::analyze
