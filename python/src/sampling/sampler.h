// PythonSampler: looks at all threads of Python at intervals, from a thread of its own that never asks for the GIL and stops nobody. It
// also reports what the workers of data loaders, which are processes of their own, say that they did.
#pragma once

#include <memory>
#include <string_view>

#include "mindtorch/record/source.h"
#include "python/src/sampling/worker_spans.h"

namespace mindtorch::python {

class SamplingThread;

// Each look at a thread costs a few microseconds, and one at a thread that has not run since the last look less than one. The interval
// grows if looking would take more than a hundredth of a processor. What a thread did is one sample as long as it stays in the same place.
class PythonSampler final : public record::ActivitySource {
 public:
  PythonSampler();
  ~PythonSampler() override;
  std::string_view name() const override { return "sampler"; }
  trace::DeviceType device_type() const override { return trace::DeviceType::kCpu; }
  Status probe() override;
  Status prepare(const record::SourceOptions& options) override;
  Status start() override;
  void toggle(bool) override {}  // it looks only while host events are recorded
  record::DeviceBatch stop() override;

 private:
  void forget_parent();

  std::unique_ptr<record::SourceOptions> options_;
  std::unique_ptr<SamplingThread> thread_;
  WorkerSpans workers_;
};

// The sampler of this process. Never destroyed.
PythonSampler& python_sampler();

}  // namespace mindtorch::python
