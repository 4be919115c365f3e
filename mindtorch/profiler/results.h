// Results: the recordings of a profile: its last cycle, and all cycles together if they are accumulated.
//
// Functions may be called by any thread. Recordings that were handed out never change, so they are read without a lock.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

class MINDTORCH_EXPORT Results {
 public:
  explicit Results(bool accumulate) : accumulate_(accumulate) {}

  // Takes over a finished cycle. Recordings that were handed out before do not change.
  void keep(trace::Recording recording);
  // Like keep(), for a cycle whose events went to a file. They are read when they are first needed, or at once if cycles are accumulated.
  // The functions that need them then throw the errors of ingest::load_recording() and record::merge_spilled().
  void keep_spilled(trace::Recording recording, std::string path);
  // The file is about to be written anew: events of it that have not been asked for are lost.
  void forget_spilled();
  // A value of the metadata of what is there and of every cycle to come. `json` must be valid JSON. While a caller holds what last_cycle()
  // or events() returned, its metadata stay as they are; later calls return the new value.
  void set_metadata(const std::string& key, const std::string& json);
  std::map<std::string, std::string> metadata() const;

  // Whether cycles to come are added to those before.
  void set_accumulate(bool on);
  bool empty() const noexcept;
  // The last cycle; an empty recording before the first. Let go of it when it has been read: it is copied if it must be given out again
  // with other metadata meanwhile.
  std::shared_ptr<const trace::Recording> last_cycle() const;
  // All cycles if they are accumulated, else the last. Let go of it as of last_cycle().
  std::shared_ptr<const trace::Recording> events() const;
  // Returns the analysis of events(). It is made on first use and kept until the next cycle. The metadata of its recording must not be read
  // while another thread may set some.
  std::shared_ptr<const analyze::Analysis> analysis() const;

 private:
  using Readers = std::atomic<int>;

  // All of these need the mutex.
  void keep_last(trace::Recording recording);
  void replace_last(trace::Recording recording) const;
  void read_spilled() const;
  bool is_last_being_read() const { return readers_->load(std::memory_order_acquire) > 0; }
  void write_metadata() const;
  // The recording with all metadata, for a caller who is counted while he holds it.
  std::shared_ptr<const trace::Recording> handed_out(const std::shared_ptr<trace::Recording>& recording) const;

  mutable std::mutex mutex_;  // guards all below
  bool accumulate_;
  std::map<std::string, std::string> metadata_;
  mutable bool metadata_changed_ = false;                                   // metadata_ has what last_ and all_ have not
  mutable std::shared_ptr<Readers> readers_ = std::make_shared<Readers>();  // counts the callers that hold last_ or all_
  mutable std::string spilled_to_;                                          // where the events of last_ still are; empty: in last_
  mutable std::shared_ptr<trace::Recording> last_;
  mutable std::shared_ptr<trace::Recording> all_;  // the same as last_ while there is one cycle
  mutable std::shared_ptr<const analyze::Analysis> analysis_;
};

}  // namespace mindtorch::profiler
