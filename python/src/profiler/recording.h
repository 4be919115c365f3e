// HeldRecording: what mindtorch_v2.profiler.Recording is in C++.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/recording.h"
#include "mtprof/info.h"

namespace mindtorch::python {

// A recording with its analysis. All copies share both. The events never change; any thread may use it.
class HeldRecording {
 public:
  // `recording` may be another object than that of the analysis if only their metadata differ: exports write those of `recording`.
  HeldRecording(std::shared_ptr<const analyze::Analysis> analysis, std::shared_ptr<const trace::Recording> recording,
                mtprof::FileFacts file = {});
  // A recording that no profile has. Metadata may be added to these alone.
  explicit HeldRecording(std::shared_ptr<trace::Recording> own, mtprof::FileFacts file = {});

  const std::shared_ptr<const analyze::Analysis>& analysis() const { return analysis_; }
  const mtprof::FileFacts& file() const { return *file_; }

  // What `work` makes of the recording with its metadata, which do not change meanwhile.
  template <class Work>
  auto with_metadata(Work work) const {
    const std::shared_lock lock(*metadata_mutex_);
    return work(*with_metadata_);
  }
  // Throws Error for a recording that a profile has.
  void add_metadata(const std::string& key, std::string json) const;

 private:
  std::shared_ptr<const analyze::Analysis> analysis_;
  std::shared_ptr<const analyze::Analysis> with_metadata_;  // mostly the same
  std::shared_ptr<trace::Recording> own_;                   // null: a profile has it
  std::shared_ptr<const mtprof::FileFacts> file_;
  std::shared_ptr<std::shared_mutex> metadata_mutex_ = std::make_shared<std::shared_mutex>();
};

}  // namespace mindtorch::python
