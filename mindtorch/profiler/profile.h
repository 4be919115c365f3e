// Profile: the C++ counterpart of torch.profiler.profile. It starts, steps and stops recording, and gives access to the results.
//
//   profiler::Profile p({.schedule = profiler::schedule({.wait = 1, .warmup = 1, .active = 3}), .record_shapes = true});
//   p.start();
//   for (const Batch& batch : data) { train(batch); p.step(); }
//   p.stop();
//
// Calls come from one thread at a time (but for those of metadata) and not from inside the profile's own callbacks; the program being
// profiled may use any threads.
// A call that breaks the order of calls changes nothing, or as little as it can, and warns once: torch's profiler lets a program go on
// after it. Only a call that has nothing to work on (no trace was ever prepared) throws. Every failure (a callback's exception, a warning
// that Python turns into an exception) is thrown by the call in which it happened, after that call has done all its work. The profile can
// still be used.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/base/export.h"
#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/first_failure.h"
#include "mindtorch/profiler/options.h"
#include "mindtorch/profiler/recorder.h"
#include "mindtorch/profiler/results.h"
#include "mindtorch/profiler/schedule.h"
#include "mindtorch/profiler/transition.h"
#include "mindtorch/profiler/warning.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

// The time and memory that the profiler itself took for the last trace (torch: _stats). Times are nanoseconds.
struct Overhead {
  std::int64_t prepare_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
  std::int64_t window_ns = 0;        // from the end of start to the beginning of stop
  std::int64_t window_start_ns = 0;  // on the steady clock; 0: not begun
  std::int64_t bytes = 0;            // of events and side data when it stopped
  std::uint64_t events = 0;
};

class MINDTORCH_EXPORT Profile {
 public:
  // Throws InvalidArgument (activities, a negative post_processing_timeout_s), ArgumentAssertion (no activities), Error (activity_filters),
  // and what schedule(0) throws. Records nothing yet.
  explicit Profile(ProfileOptions options = {});
  // Uses the given recorder, or that of this process if it is null.
  Profile(ProfileOptions options, std::unique_ptr<Recorder> recorder);
  // Like close(), but never throws: an exception of close() becomes a warning.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // --- Recording ---

  // Begins with the action of the present step. It may be called again after stop(); the step number continues. While another profile of
  // the process records, which is not affected, it warns, and the trace of this one is empty. Throws ArgumentAssertion if none of the
  // activities can be recorded here. If it throws, nothing runs.
  void start();
  // Begins the next step, and makes the calls that torch's table lists for the actions of the two steps. After stop(), and from inside a
  // callback, the step is only counted. If schedule() throws, the step stays as it was.
  void step();
  // Nothing runs afterwards, even if it throws. From inside a callback, the profile stops when the call that made the callback ends. Throws
  // AssertionFailed if the profile was never started, unless there was nothing to do yet.
  void stop();
  // The end of torch's `with` block: stop() if running, then the observer's cleanup(). In a forked child, where the trace is the parent's,
  // it is forgotten.
  void close();
  // Ends recording and drops the trace, without callbacks. It is meant for owners that a garbage collector destroys.
  void abandon() noexcept;

  // The parts of start() and stop() (torch: prepare_trace, start_trace, stop_trace), for callers that do not use steps. They throw
  // AssertionFailed before prepare_trace().
  void prepare_trace();
  void start_trace();
  void stop_trace();

  // Lets the owner make the calls that steps make, with the three functions above: for owners that add something of their own to them.
  void set_trace_calls(std::function<void(TraceCall)> make) { trace_calls_ = std::move(make); }

  // What was recorded so far, while the trace goes on; another thread may step the profile meanwhile. It has an id of its own. Throws Error
  // if nothing is recorded now, or if events are written to a file. With `last`, what began earlier than that long ago is left out.
  trace::Recording snapshot(std::chrono::nanoseconds last = std::chrono::nanoseconds::max()) const;

  // Switches activities of the running trace off and on. Those that are not recorded anyway, and calls outside a trace, have no effect; the
  // next cycle starts with all activities on.
  void toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities);

  // --- State ---

  bool running() const noexcept { return started_; }                         // between start() and stop()
  bool recording_now() const noexcept { return phase_ == Phase::kRunning; }  // and events are being recorded
  std::int64_t step_num() const noexcept { return step_num_; }
  // For drivers that count steps themselves: step() goes on from here. Events of a number that was passed already belong to the highest
  // one so far, and those of a negative one to none.
  void set_step_num(std::int64_t step);
  // Takes effect from the next step on. If it is empty, every step is recorded.
  void set_schedule(Schedule schedule);
  ProfilerAction current_action() const noexcept { return current_action_; }
  // The next start() or step() goes on from this action.
  void set_current_action(ProfilerAction action) noexcept {
    current_action_ = action <= ProfilerAction::kRecordAndSave ? action : ProfilerAction::kNone;
  }
  bool record_steps() const noexcept { return record_steps_; }  // steps are scopes, which they are if there is a schedule
  void set_record_steps(bool on) noexcept { record_steps_ = on; }
  const ProfileOptions& options() const noexcept { return options_; }
  // What is changed takes effect from the next cycle on. The schedule and acc_events have functions of their own.
  ProfileOptions& options_of_next_cycle() noexcept { return options_; }
  const std::vector<Activity>& activities() const noexcept { return activities_; }
  void set_acc_events(bool on);
  // Takes effect from the next cycle on. Throws what the constructor throws.
  void set_activities(std::vector<Activity> activities, std::vector<ActivityFilter> filters);
  std::optional<std::string> use_device() const;  // "cuda", "npu": the device whose columns a table has

  // Returns the id of the present or last cycle; empty before the first prepare.
  std::optional<std::string> get_trace_id() const { return trace_id_; }
  // Takes effect from the next cycle on. An empty callback restores random ids.
  void set_custom_trace_id_callback(TraceIdCallback callback) { options_.custom_trace_id_callback = std::move(callback); }
  // Returns all warnings of this profile, each text once. The process's sink (set_warning_sink) has received them too.
  const std::vector<Warning>& warnings() const noexcept { return warnings_; }

  // --- Metadata ---

  // Top-level values of the trace file. They are added to the last cycle and to all that follow. These functions may be called by any
  // thread at any time; a file that another thread is writing meanwhile keeps the metadata that it began with.
  void add_metadata(const std::string& key, std::string_view value);       // as a JSON string
  void add_metadata_json(const std::string& key, std::string_view value);  // as it is if it is JSON, else as a JSON string
  void preset_metadata_json(const std::string& key, std::string_view value);
  std::map<std::string, std::string> preset_metadata() const;

  // --- What was recorded ---

  // The last cycle, or all of them with acc_events; empty before the first has ended. Stays valid and unchanged whatever the profile does
  // later. Let go of it when it has been read: while it is held, new metadata are put into a copy.
  std::shared_ptr<const trace::Recording> recording() const { return results_.events(); }
  // Returns torch's list of events. It refers to analysis() and is valid until the next cycle ends; hold analysis() to keep it longer. This
  // and the following functions throw AssertionFailed with torch's text before the first trace was prepared. The list is empty until the
  // first trace has ended.
  const analyze::Events& events() const;
  // Returns values that do not refer to the profile. Print them with .table().
  analyze::KeyAverages key_averages(const analyze::GroupOptions& options = {}) const;
  std::shared_ptr<const analyze::Analysis> analysis() const { return results_.analysis(); }

  // Return analysis() and the last cycle, for callers that use them while the profile continues (another language, another thread). They
  // throw the same errors as events() and export_chrome_trace(); `doing` completes torch's text "Profiler must be initialized before ...".
  std::shared_ptr<const analyze::Analysis> checked_analysis(std::string_view doing) const;
  std::shared_ptr<const trace::Recording> checked_cycle(std::string_view doing) const;
  // Throw what export_stacks() and export_memory_timeline() throw for a profile that lacks what they need.
  void check_stacks() const;
  void check_memory_timeline() const;

  // Files of the last cycle, whole or not at all; may be repeated. Throw IoError with the path, and Error if no trace has ended yet.
  // Chrome's format whatever the name, but for ".pftrace" (Perfetto's); ".gz" is compressed.
  void export_chrome_trace(const std::string& path) const;
  // The suffix of the path selects one of all formats (mindtorch/export/export_trace.h). Throws InvalidArgument with the list of suffixes
  // if it is not one of them.
  void export_trace(const std::string& path) const;

  // Collapsed stacks of events(), for flame graphs. Throws AssertionFailed without with_stack, InvalidArgument with torch's list for
  // another metric.
  void export_stacks(const std::string& path, std::string_view metric = "self_cpu_time_total") const;

  // Writes the memory in use over time, by category: ".html" (a self-contained page), ".json", ".json.gz" or ".raw.json.gz", as torch
  // writes them. `device` is "cpu", "npu:0", "cuda:1". The default is the first accelerator that reported memory, or else the CPU. Throws
  // InvalidArgument with torch's text unless record_shapes, profile_memory and with_stack are on, and for a text that is not a device.
  void export_memory_timeline(const std::string& path, std::optional<std::string_view> device = std::nullopt) const;

  // Returns the number of missing events for each reason.
  std::vector<trace::Loss> losses() const { return recording()->losses; }
  const Overhead& overhead() const noexcept { return overhead_; }

 private:
  enum class Phase { kIdle, kPrepared, kRunning };
  enum class Keep { kNo, kYes };

  // Throws torch's AssertionFailed "Profiler must be initialized before <doing>".
  void require_prepared(std::string_view doing) const;

  // Warns of a call in a wrong order, once for each.
  void tolerate(std::string_view call, std::string_view consequence);
  ProfilerAction scheduled_action(std::int64_t step) const;
  void transit(ProfilerAction from, std::optional<ProfilerAction> to, FirstFailure& failure);
  // Lets the owner make the call if it wants to; false if it does not.
  bool made_by_owner(TraceCall call);
  void end_step();
  void begin_step();
  // The steps of a trace increase. A number that does not increase does not begin a new step.
  void mark_step();
  // Adds to warnings(); false if it is there already.
  bool remember(const std::string& text);
  void warn_about_options();
  void warn_about_problems(FirstFailure& failure);

  void prepare();
  void start_prepared();
  // Adds what the recorder does not know: the id, the job, the options.
  void describe(trace::Recording& recording) const;
  // Ends the running trace; true if its recording was kept.
  bool finish(Keep keep, FirstFailure& failure);
  // Ends and drops a trace that is prepared or running.
  void drop_trace(FirstFailure& failure);
  // Ends and keeps a trace that runs, and drops one that is prepared.
  void end_trace(FirstFailure& failure);
  // Does what a stop() from inside a callback has asked for.
  void stop_if_wanted(FirstFailure& failure);

  ProfileOptions options_;
  std::vector<Activity> activities_;
  std::unique_ptr<Recorder> recorder_;
  std::function<void(TraceCall)> trace_calls_;
  trace::KindSet wanted_kinds_;
  bool record_steps_ = false;
  std::int64_t step_num_ = 0;
  std::optional<std::int64_t> marked_step_;  // of the present trace
  ProfilerAction current_action_ = ProfilerAction::kNone;
  Phase phase_ = Phase::kIdle;
  bool started_ = false;
  bool ever_started_ = false;
  bool needs_cleanup_ = false;
  bool busy_ = false;
  bool delegating_ = false;   // the owner makes a call of a transition
  bool stop_wanted_ = false;  // stop() was called from inside a callback
  std::optional<std::string> trace_id_;
  mutable std::mutex preset_mutex_;
  std::map<std::string, std::string> preset_metadata_;
  std::vector<Warning> warnings_;
  Results results_;
  Overhead overhead_;
  int process_ = 0;  // in which the trace was started
};

// Writes what the running profile of this process has recorded so far to its file, if it spills. Returns false if that takes longer than
// the deadline. For a program that is about to end without a stop(). Any thread.
MINDTORCH_EXPORT bool flush_recording(std::chrono::milliseconds deadline) noexcept;

}  // namespace mindtorch::profiler
