// Every call that may wait or take long, without the GIL.
#include "python/src/profiler/unlocked_recorder.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "python/src/gil.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

class UnlockedRecorder : public profiler::Recorder {
 public:
  explicit UnlockedRecorder(std::unique_ptr<profiler::Recorder> recorder) : recorder_(std::move(recorder)) {}

  void prepare(const profiler::ProfileOptions& options, const std::vector<profiler::Activity>& activities) override {
    const ReleasedGil unlocked;
    recorder_->prepare(options, activities);
  }
  void start() override {
    const ReleasedGil unlocked;
    recorder_->start();
  }
  trace::Recording stop() override {
    const ReleasedGil unlocked;
    return recorder_->stop();
  }
  trace::Recording snapshot(std::chrono::nanoseconds last) override {
    const ReleasedGil unlocked;
    return recorder_->snapshot(last);
  }
  void discard() noexcept override {
    const ReleasedGil unlocked;
    recorder_->discard();
  }
  void toggle(profiler::Activity activity, bool on) override {
    const ReleasedGil unlocked;
    recorder_->toggle(activity, on);
  }

  // These are quick, and a step must begin and end on the thread that says so before any other runs.
  void mark_step(std::int64_t step) override { recorder_->mark_step(step); }
  void open_step_scope(std::int64_t step) override { recorder_->open_step_scope(step); }
  void close_step_scope() override { recorder_->close_step_scope(); }
  std::vector<std::string> problems() const override { return recorder_->problems(); }
  std::int64_t bytes_in_use() const override { return recorder_->bytes_in_use(); }

 private:
  std::unique_ptr<profiler::Recorder> recorder_;
};

}  // namespace

std::unique_ptr<profiler::Recorder> make_unlocked_recorder(std::unique_ptr<profiler::Recorder> recorder) {
  return std::make_unique<UnlockedRecorder>(std::move(recorder));
}

}  // namespace mindtorch::python
