// The rules about waiting, loading and Python.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mindtorch/analyze/code_origin.h"
#include "mindtorch/analyze/report/rules.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

auto on_host(Cause cause) {
  return [cause](const Cell& cell) { return !cell.is_on_device() && cell.cause == cause; };
}

// " (in train.py:12:main)" where a line is known, for texts that name one of several.
std::string calls_text(const std::vector<std::string>& calls) {
  return calls.empty() ? std::string() : fmt::format("most of it in {}", fmt::join(calls, ", "));
}

// The functions of libraries that took most of the time, if they did.
void add_calls(const Judge& judge, const Claim& claim, Finding& found) {
  const auto call_of = [&](const Cell& cell) { return judge.place(cell).inner; };
  const std::vector<std::string> calls = judge.largest(claim, call_of, 2);
  std::int64_t in_calls = 0;
  for (const Claim::Part& part : claim.parts)
    if (std::ranges::find(calls, call_of(judge.ledger.cells()[part.cell])) != calls.end()) in_calls += part.ns;
  if (2 * in_calls > claim.ns) found.evidence.push_back(calls_text(calls));
}

// What the workers of a loader did while the steps were judged.
struct Workers {
  std::size_t count = 0;  // that work at the same time
  std::size_t started = 0;
  double busy = 0;                                // of their time
  std::int64_t batches = 0;                       // that they made
  std::int64_t batch_ns = 0;                      // that one of them needs for a batch, without waiting for a processor
  std::int64_t starting_ns = 0;                   // for which the loop waited for the first batch of a worker
  std::map<std::string, std::int64_t> functions;  // time of `__getitem__` and `collate_fn`, without what is inside of others
  std::map<std::string, std::int64_t> lines;      // of samples, or where these functions begin
};

// "/home/me/data.py:12" of a function that a worker called; empty if it is not known, or code of a library.
std::string_view source_of(const trace::Recording& recording, EventIndex event) {
  for (const trace::Attribute& attribute : recording.attributes.find(event)) {
    if (recording.names[attribute.key] != "source" || !trace::has_text(attribute)) continue;
    const std::string_view source = recording.names[static_cast<std::size_t>(attribute.bits)];
    if (code_origin(source.substr(0, source.rfind(':'))) == CodeOrigin::kUser) return source;
  }
  return {};
}

// For how long a thread was ready to run in an event without a processor, as a worker tells it.
std::int64_t not_running_ns(const trace::Recording& recording, EventIndex event) {
  for (const trace::Attribute& attribute : recording.attributes.find(event)) {
    if (recording.names[attribute.key] == "not_running_ns" && attribute.type == trace::Attribute::Type::kInt) return attribute.bits;
  }
  return 0;
}

// The waits of the loop that the first batch of a worker ended: it was being started.
std::int64_t waits_for_start(const Judge& judge, std::vector<std::int64_t> first_batches) {
  const trace::Recording& recording = judge.analysis.recording();
  std::ranges::sort(first_batches);
  std::int64_t time = 0;
  const trace::Track& main = recording.tracks[judge.phases.main_track()];
  for (EventIndex i = main.first_event; i < main.first_event + main.event_count; ++i) {
    if (recording.name(i) != "DataLoader.wait" || !judge.ledger.is_judged(recording.events.start_ns[i])) continue;
    const auto first = std::ranges::lower_bound(first_batches, recording.events.start_ns[i]);
    if (first != first_batches.end() && *first <= recording.events.end_ns(i)) time += recording.events.duration_ns[i];
  }
  return time;
}

// "__getitem__" of "Dataset.__getitem__(Images)", "pad" of "collate_fn(pad)".
std::string_view function_in(std::string_view name) {
  const std::size_t open = name.find('(');
  if (name.starts_with("Dataset.")) return name.substr(8, open - 8);
  return name.substr(open + 1, name.size() - open - 2);
}

Workers workers_of(const Judge& judge) {
  Workers workers;
  const trace::Recording& recording = judge.analysis.recording();
  if (recording.tracks.empty()) return workers;
  const std::int64_t main_pid = recording.tracks[judge.phases.main_track()].pid;
  std::int64_t busy = 0, needed = 0;
  std::set<std::string> names;  // those of an epoch are numbered from 0
  std::vector<std::int64_t> first_batches;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind != trace::Track::Kind::kThread || track.pid == main_pid) continue;
    bool fetches = false;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const std::string_view name = recording.name(i);
      const bool is_fetch = name == "DataLoader.fetch";
      if (is_fetch && !std::exchange(fetches, true)) first_batches.push_back(recording.events.end_ns(i));
      if (!judge.ledger.is_judged(recording.events.start_ns[i])) continue;
      if (is_fetch) {
        busy += recording.events.duration_ns[i];
        needed += std::max<std::int64_t>(0, recording.events.duration_ns[i] - not_running_ns(recording, i));
        ++workers.batches;
      }
      if (!name.starts_with("Dataset.__getitem__") && !name.starts_with("collate_fn(")) continue;
      workers.functions[std::string(name)] += judge.analysis.tree().self_ns(i);
      if (const std::string_view source = source_of(recording, i); !source.empty())
        workers.lines[fmt::format("{}:{}", source, function_in(name))] += judge.analysis.tree().self_ns(i);
    }
    if (!fetches) continue;
    ++workers.started;
    names.insert(track.name);
    for (const Segment& segment : judge.attribution.of(t)) {
      if (segment.cause == Cause::kUnknown || segment.place == kNoPlace || !judge.ledger.is_judged(segment.start_ns)) continue;
      const Place& place = judge.attribution.place(segment.place);
      if (place.hint != Cause::kThread) workers.lines[place.line] += segment.duration_ns();
    }
  }
  workers.count = names.size();
  const auto all = static_cast<double>(judge.ledger.total_ns() + judge.ledger.left_out_ns()) * static_cast<double>(workers.count);
  workers.busy = all > 0 ? static_cast<double>(busy) / all : 0;
  workers.batch_ns = needed / std::max<std::int64_t>(1, workers.batches);
  workers.starting_ns = waits_for_start(judge, std::move(first_batches));
  workers.lines.erase("");
  return workers;
}

template <class Map>
std::string most_of(const Map& times) {
  const auto most = std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  return most == times.end() ? std::string() : most->first;
}

bool is_in_library(const Place& place, std::initializer_list<std::string_view> files) {
  return std::ranges::any_of(files, [&](std::string_view file) { return contains(place.called, file) || contains(place.inner, file); });
}

}  // namespace

std::optional<Finding> garbage_collection(const Judge& judge) {
  auto found = judge.worth("garbage_collection", "Python collects garbage", on_host(Cause::kGarbage), "the cyclic garbage collector");
  if (found)
    found->remedy =
        "Call gc.freeze() and gc.disable() before the loop, and gc.collect() every few hundred steps; do not call gc.collect() in each "
        "one.";
  return found;
}

std::optional<Finding> waiting_for_gil(const Judge& judge) {
  auto found = judge.worth("waiting_for_gil", "Another thread holds the GIL", on_host(Cause::kGil),
                           "waiting for the interpreter lock that other threads hold");
  if (!found) return found;
  // The lines that other threads run while this one waits.
  const trace::Recording& recording = judge.analysis.recording();
  std::map<std::string, std::int64_t> lines;
  const auto waits = judge.attribution.of(judge.phases.main_track());
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    if (t == judge.phases.main_track() || recording.tracks[t].pid != recording.tracks[judge.phases.main_track()].pid) continue;
    const auto others = judge.attribution.of(t);
    std::size_t at = 0;
    for (const Segment& wait : waits) {
      if (wait.cause != Cause::kGil || !judge.ledger.is_judged(wait.start_ns)) continue;
      while (at < others.size() && others[at].end_ns <= wait.start_ns) ++at;
      for (std::size_t k = at; k < others.size() && others[k].start_ns < wait.end_ns; ++k) {
        if (others[k].cause != Cause::kPython) continue;
        lines[judge.attribution.place(others[k].place).line] +=
            std::min(wait.end_ns, others[k].end_ns) - std::max(wait.start_ns, others[k].start_ns);
      }
    }
  }
  lines.erase("");
  if (const std::string line = most_of(lines); !line.empty()) {
    found->evidence.push_back(fmt::format("meanwhile another thread runs {}", line));
    found->lines.insert(found->lines.begin(), line);
  }
  found->remedy = "Move that work to another process (multiprocessing, a DataLoader's workers), or into code that releases the GIL.";
  return found;
}

// For how long the loop was ready to run and did not. Looks see it too often, because whoever looks needs a processor too; the kernel
// knows.
std::int64_t time_without_processor(const Judge& judge) {
  const auto most = static_cast<std::int64_t>(judge.processors.missing.value_or(1) * static_cast<double>(judge.ledger.total_ns()));
  return judge.free(on_host(Cause::kNotRunning), most).ns;
}

// Workers that begin anew in each epoch make the loop wait for their first batches.
std::optional<Finding> restarted_workers(const Judge& judge, const Workers& workers) {
  if (workers.started <= workers.count) return std::nullopt;
  const Claim claim = judge.free(on_host(Cause::kLoading), workers.starting_ns);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("waiting_for_data", "The workers of the data loader are started again in each epoch", claim);
  found.evidence = {
      judge.passes_in(claim, fmt::format("waiting for the first batches of {} workers, {} at a time", workers.started, workers.count))};
  found.remedy = "Keep the workers between epochs: DataLoader(persistent_workers=True).";
  return found;
}

std::optional<Finding> waiting_for_data(const Judge& judge) {
  const Workers workers = workers_of(judge);
  if (auto found = restarted_workers(judge, workers)) return found;
  // Workers begin once, and what the loop waits for until then is gone after the first batches.
  const Claim all = judge.free(on_host(Cause::kLoading));
  const Claim claim = judge.free(on_host(Cause::kLoading), std::max<std::int64_t>(0, all.ns - workers.starting_ns));
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  // What the loop itself needs for a batch is what the workers have time for.
  const std::int64_t not_running = time_without_processor(judge);
  const std::int64_t loop_ns = (judge.ledger.total_ns() - all.ns - not_running) / std::max<std::int64_t>(1, workers.batches);
  const bool could_keep_up =
      workers.batches > 0 &&
      static_cast<double>(workers.batch_ns) < Thresholds::kInTime * static_cast<double>(loop_ns) * static_cast<double>(workers.count);
  // On a busy machine, the workers come late though they are fast enough.
  if (could_keep_up && judge.processors.are_busy()) return std::nullopt;
  const bool has_workers = workers.count > 0 || std::ranges::any_of(judge.analysis.recording().names, [](const std::string& name) {
                             return name == "DataLoader.wait" || contains(name, "_MultiProcessingDataLoaderIter");
                           });
  Finding found = judge.finding("waiting_for_data", "The loop waits for data", claim);
  found.evidence = {judge.passes_in(
      claim, has_workers ? "waiting for the workers of the data loader" : "the data loader, on the thread that runs the loop")};
  if (const std::string function = most_of(workers.functions); !function.empty())
    found.evidence.push_back(fmt::format("{} busy for {} of the time, most of it in {}",
                                         workers.count == 1 ? "1 worker is" : fmt::format("{} workers are", workers.count),
                                         percent_text(workers.busy), function));
  if (workers.batches > 0)
    found.evidence.push_back(
        fmt::format("a batch takes one worker {}, and the loop {} without waiting", time_text(workers.batch_ns), time_text(loop_ns)));
  const bool are_workers_slow = !could_keep_up && workers.batches > 0;  // and not the way from them
  if (const std::string line = most_of(workers.lines); are_workers_slow && !line.empty()) found.lines.insert(found.lines.begin(), line);
  if (!has_workers) {
    add_calls(judge, claim, found);
    found.remedy =
        "Load and prepare batches in other processes: DataLoader(num_workers=4, persistent_workers=True), with pin_memory=True for a "
        "device; or make the line above faster.";
  } else if (could_keep_up) {
    found.remedy =
        "The workers are fast enough: let them work ahead (prefetch_factor), keep them between epochs (persistent_workers=True), "
        "and send less through the queue (smaller types, tensors instead of lists).";
  } else if (workers.batches > 0 && loop_ns > 0) {
    found.remedy = fmt::format(
        "The workers cannot keep up: make the function above faster, prepare the data once and store it, or, as far as there are "
        "processors "
        "for them, use {} workers.",
        workers.batch_ns / loop_ns + 1);
  } else {
    found.remedy = "The workers cannot keep up: use more of them, make the dataset faster, or prepare the data once and store it.";
  }
  return found;
}

std::optional<Finding> compiling_in_steps(const Judge& judge) {
  auto found =
      judge.worth("compiling_in_steps", "torch.compile compiles during the steps", on_host(Cause::kCompiling), "Dynamo and Inductor");
  if (found)
    found->remedy =
        "Something changes from step to step: run with TORCH_LOGS=recompiles to see what. Usual causes are Python numbers that change, "
        "shapes (mark them with dynamic=True or pad them), and functions that are made anew.";
  return found;
}

std::optional<Finding> checkpoints(const Judge& judge) {
  // A function of the program that saves does nothing else that takes long: opening, writing and closing the file belong to it.
  const auto saves = [&](const Cell& cell) {
    return !cell.is_on_device() &&
           is_in_library(judge.place(cell), {"torch/serialization.py", "torch/distributed/checkpoint/", "safetensors/"});
  };
  std::set<std::string> functions;
  for (const Cell& cell : judge.ledger.cells()) {
    if (saves(cell)) functions.insert(function_of(judge.place(cell)));
  }
  const auto is_meant = [&](const Cell& cell) {
    if (cell.is_on_device() || saves(cell)) return !cell.is_on_device();
    const bool is_of_file = cell.cause == Cause::kPython || cell.cause == Cause::kIo || cell.cause == Cause::kNotRunning;
    const Place& place = judge.place(cell);
    return is_of_file && place.function != "<module>" && !place.line.empty() && functions.contains(function_of(place));
  };
  auto found = judge.worth("checkpoints", "Checkpoints are written while training waits", is_meant, "saving or loading tensors");
  if (found)
    found->remedy =
        "Copy the state to the host and write it in another thread (torch.distributed.checkpoint.async_save), or save less often.";
  return found;
}

std::optional<Finding> logging(const Judge& judge) {
  const auto is_meant = [&](const Cell& cell) {
    return !cell.is_on_device() && cell.cause != Cause::kLoading &&
           is_in_library(judge.place(cell), {"logging/", "tqdm/", "wandb/", "tensorboard", "mlflow/", "rich/"});
  };
  auto found = judge.worth("logging", "Logging holds up the steps", is_meant, "logging and progress bars");
  if (found) found->remedy = "Log every hundredth step, and from a queue (logging.handlers.QueueHandler).";
  return found;
}

std::optional<Finding> sleeping(const Judge& judge) {
  auto found = judge.worth("sleeping", "The program sleeps", on_host(Cause::kSleep), "sleeping");
  if (found) found->remedy = "Remove the sleep, or wait for the event itself instead of polling for it.";
  return found;
}

std::optional<Finding> waiting_for_lock(const Judge& judge) {
  auto found = judge.worth("waiting_for_lock", "The program waits for a lock", on_host(Cause::kLock), "waiting for locks");
  if (found) found->remedy = "Hold the lock for a shorter time on the other thread, or do not share what it protects.";
  return found;
}

std::optional<Finding> waiting_for_thread(const Judge& judge) {
  const auto is_meant = on_host(Cause::kThread);
  const Claim claim = judge.free(is_meant);
  auto found = judge.worth("waiting_for_thread", "The program waits for another thread or process", is_meant,
                           "waiting for queues, threads or processes");
  if (!found) return found;
  add_calls(judge, claim, *found);
  found->remedy = "Start that work earlier, so that it runs beside the steps, or divide it among more threads or processes.";
  return found;
}

std::optional<Finding> files_and_network(const Judge& judge) {
  const auto is_meant = on_host(Cause::kIo);
  const Claim claim = judge.free(is_meant);
  auto found = judge.worth("files_and_network", "The program waits for files or the network", is_meant, "input and output");
  if (!found) return found;
  add_calls(judge, claim, *found);
  found->remedy = "Read ahead and write behind on another thread, or less often.";
  return found;
}

// Only what the program's own threads take from each other: the ledger leaves out what other programs take.
std::optional<Finding> not_running(const Judge& judge) {
  const Claim claim = judge.free(on_host(Cause::kNotRunning), time_without_processor(judge));
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  std::optional<Finding> found = judge.finding("not_running", "The processors are busy with other threads", claim);
  found->evidence = {judge.passes_in(claim, "being ready to run while other threads have the processors")};
  found->remedy =
      "There are more busy threads than processors: set torch.set_num_threads() and the threads of other libraries (OMP_NUM_THREADS) so "
      "that all processes together have one per processor.";
  return found;
}

std::optional<Finding> exposed_collectives(const Judge& judge) {
  const auto is_meant = [](const Cell& cell) {
    return cell.is_on_device() ? cell.device == DevicePhase::kCollective : cell.cause == Cause::kCollective;
  };
  // Ranks that share a busy machine wait for each other, though they work equally long. Such waits are longer and shorter by chance; those
  // for a rank that is late, or for much that is sent, come in nearly all steps.
  if (judge.processors.are_busy() && !judge.phases.has_device_work()) {
    const std::vector<StepPhases>& steps = judge.phases.steps();
    std::vector<std::int64_t> waits;
    for (const StepPhases& step : steps) waits.push_back(step.host[static_cast<std::size_t>(Cause::kCollective)]);
    const auto quarter = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 4);
    std::ranges::nth_element(waits, quarter);
    if (judge.ledger.share(*quarter * static_cast<std::int64_t>(judge.ledger.steps())) < judge.least_wait()) return std::nullopt;
  }
  auto found = judge.worth("exposed_collectives", "The program waits for collectives", is_meant, "communication that nothing hides");
  if (found)
    found->remedy =
        "Compare the ranks with `mtprof ranks`: if one is late, all others wait for it. Otherwise let communication run beside the "
        "backward pass (larger buckets, no_sync() while gradients accumulate), or send less (bfloat16 gradients).";
  return found;
}

std::optional<Finding> slow_python(const Judge& judge) {
  const auto is_python = [&](const Cell& cell) {
    // A place that was only guessed from a look before is no evidence.
    return !cell.is_on_device() && cell.cause == Cause::kPython && !cell.is_glue && cell.seen_ns > 0 && !judge.place(cell).function.empty();
  };
  const auto function_of_cell = [&](const Cell& cell) { return function_of(judge.place(cell)); };
  const std::vector<std::string> functions = judge.largest(judge.free(is_python), function_of_cell, 1);
  if (functions.empty()) return std::nullopt;
  const auto is_meant = [&](const Cell& cell) { return is_python(cell) && function_of_cell(cell) == functions[0]; };
  const Claim claim = judge.free(is_meant);
  if (judge.ledger.share(claim.ns) < Thresholds::kSlowFunction) return std::nullopt;
  const std::string function = judge.largest(
      claim, [&](const Cell& cell) { return judge.place(cell).function; }, 1)[0];
  Finding found = judge.finding("slow_python", fmt::format("Python runs in {}", function), claim);
  found.evidence = {judge.passes_in(claim, fmt::format("{}, outside of ops", functions[0]))};
  add_calls(judge, claim, found);
  found.remedy =
      "Replace loops over elements by ops on whole tensors, move work that is the same in each step out of the loop, and let other "
      "processes do what does not need the model.";
  return found;
}

std::optional<Finding> python_between_ops(const Judge& judge) {
  const Claim claim = judge.free([](const Cell& cell) {
    return !cell.is_on_device() && !cell.is_between_steps &&
           (cell.cause == Cause::kPython || cell.cause == Cause::kUnknown || cell.cause == Cause::kNative);
  });
  if (!judge.phases.has_steps() || judge.ledger.share(claim.ns) < Thresholds::kMostOfAStep) return std::nullopt;
  Finding found = judge.finding("python_between_ops", "Most of the time passes outside of ops", claim);
  found.evidence = {judge.passes_in(claim, "Python or in libraries that record nothing")};
  found.remedy = judge.attribution.sees_python()
                     ? "No line takes much of it: compile the model (torch.compile), or give each call more work (larger batches)."
                     : "What ran there was not recorded. Record the program with `mtprof run`, which looks at its Python threads.";
  return found;
}

}  // namespace mindtorch::analyze
