// Sessions of the CUPTI source: subscribing, collecting, draining.
#include "mindtorch/sources/cupti/cupti_source.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "mindtorch/record/open_op.h"
#include "mindtorch/sources/cupti/api_names.h"
#include "mindtorch/sources/cupti/captured_ops.h"
#include "mindtorch/sources/cupti/driver.h"
#include "mindtorch/sources/tried_kinds.h"

namespace mindtorch::sources::cupti {
namespace {

// How long stop() waits for calls that are under way.
constexpr std::chrono::milliseconds kCallPatience(200);
constexpr std::size_t kWarmBuffers = 4;
// spill: records are written when there are so many, and when they are so old that the records of their calls have come, which a flush
// fetches every half second.
constexpr std::size_t kWriteStep = std::size_t{1} << 16;
constexpr std::chrono::nanoseconds kSettled = std::chrono::seconds(2);

// One for the process, never destroyed: CUPTI may hand buffers back at any time, and graphs outlive recordings.
BufferPool& buffer_pool() {
  static auto& pool = *new BufferPool(std::size_t{4} << 20, 64);
  return pool;
}
GraphNodes& graph_nodes() {
  static auto& nodes = *new GraphNodes();
  return nodes;
}
CapturedOps& captured_ops() {
  static auto& ops = *new CapturedOps();
  return ops;
}
std::atomic<std::uint32_t> recordings{0};  // since the process began
std::atomic<bool> may_refuse_buffers{false};

struct Kind {
  std::uint32_t kind;
  std::string_view name;
  bool is_required;
};
// Calls come first: they are enabled first and disabled last.
constexpr std::array<Kind, 9> kKinds = {{
    {kRuntime, "RUNTIME", true},
    {kDriver, "DRIVER", false},
    {kConcurrentKernel, "CONCURRENT_KERNEL", true},
    {kMemcpy, "MEMCPY", true},
    {kMemset, "MEMSET", true},
    {kMemcpyPeer, "MEMCPY2", false},
    {kOverhead, "OVERHEAD", false},
    {kSynchronization, "SYNCHRONIZATION", false},
    {kGraphTrace, "GRAPH_TRACE", false},
}};

// The end of a window that is open.
constexpr std::uint64_t kEndless = Decoder::Window{}.end;

constexpr std::array kGraphCallbacks = {kGraphNodeCreated, kGraphNodeCloned};

// CUPTI of CUDA 13.0 crashes inside the launch of a graph that was instantiated before the kind GRAPH_TRACE was enabled.
bool can_record_whole_graphs(std::uint32_t version) { return version < 130000 || version >= 130100; }

bool is_kind_of_calls(std::uint32_t kind) { return kind == kRuntime || kind == kDriver; }

bool is_asked_for(std::uint32_t kind, const record::SourceOptions& options) {
  if (kind == kSynchronization) return options.synchronizations;
  if (kind == kGraphTrace) return options.whole_graphs;
  return true;
}

}  // namespace

CuptiSource& cupti_source() {
  static auto& source = *new CuptiSource();
  return source;
}

CuptiSource::CuptiSource() : thread_(buffer_pool()) {}

CuptiSource::~CuptiSource() {
  if (thread_.is_running()) stop();
  unsubscribe();
}

Status CuptiSource::probe() {
  if (Status driver = probe_driver(); !driver) return driver;
  return library_.load();
}

std::vector<std::pair<std::string, std::string>> CuptiSource::diagnose() {
  const Functions& cupti = library_.functions();
  TriedKinds kinds;
  for (const Kind& each : kKinds) {
    // The kind crashes some libraries as soon as a graph is launched, so it is not tried.
    if (each.kind == kGraphTrace) continue;
    const Result result = cupti.cuptiActivityEnable(each.kind);
    if (result == kSuccess) cupti.cuptiActivityDisable(each.kind);
    kinds.add(each.name, result == kSuccess ? "" : library_.explain(result));
  }
  std::vector<std::pair<std::string, std::string>> facts = {{"library", library_.path()},
                                                            {"version", fmt::format("{}", library_.version())},
                                                            {"driver supports CUDA", fmt::format("{}", driver_version())}};
  for (auto& fact : kinds.facts()) facts.push_back(std::move(fact));
  return facts;
}

Status CuptiSource::prepare(const record::SourceOptions& options) {
  if (Status available = probe(); !available) return available;
  options_ = std::make_unique<record::SourceOptions>(options);
  limits_.clear();
  if (options_->whole_graphs && !can_record_whole_graphs(library_.version())) {
    options_->whole_graphs = false;
    limits_.push_back(
        "replays of CUDA graphs are recorded kernel by kernel, because CUPTI of CUDA 13.0 crashes when it records them as a whole");
  }
  if (unneeded_driver_calls_.empty()) unneeded_driver_calls_ = unneeded_driver_calls(library_.functions());
  may_refuse_buffers = library_.version() >= kFirstVersionThatTakesNoBuffer;
  buffer_pool().warm(kWarmBuffers);
  subscribe();
  return unsubscribe_unless_ok(register_buffers());
}

// The activity API works without a subscription; only graph nodes are learned through it.
void CuptiSource::subscribe() {
  if (subscriber_ != nullptr || options_->whole_graphs) return;
  const Functions& cupti = library_.functions();
  std::array<char, 128> other{};
  SubscriberParams params{sizeof(SubscriberParams), "mindtorch", other.data(), other.size()};
  const bool has_names = cupti.cuptiSubscribe_v2 != nullptr;
  const Result result = has_names ? cupti.cuptiSubscribe_v2(&subscriber_, &called_back, this, &params)
                                  : cupti.cuptiSubscribe(&subscriber_, &called_back, this);
  if (result != kSuccess) {
    subscriber_ = nullptr;
    const std::string who = other[0] != '\0' ? fmt::format(" ({} has subscribed)", other.data()) : "";
    limits_.push_back(fmt::format("kernels in CUDA graphs are not linked to the ops that captured them{}: {}", who,
                                  library_.check(result, has_names ? "cuptiSubscribe_v2" : "cuptiSubscribe").reason()));
    return;
  }
  for (const std::uint32_t callback : kGraphCallbacks) {
    const Status status = library_.check(cupti.cuptiEnableCallback(1, subscriber_, kResourceDomain, callback), "cuptiEnableCallback");
    if (status && cupti.cuptiGetGraphNodeId != nullptr) continue;
    limits_.push_back(fmt::format("kernels in CUDA graphs are not linked to the ops that captured them: {}",
                                  status ? "cuptiGetGraphNodeId is missing" : status.reason()));
    unsubscribe();
    return;
  }
}

void CuptiSource::unsubscribe() {
  if (subscriber_ != nullptr) library_.functions().cuptiUnsubscribe(std::exchange(subscriber_, nullptr));
}

// A session that cannot run leaves the library to other tools.
Status CuptiSource::unsubscribe_unless_ok(Status status) {
  if (!status) unsubscribe();
  return status;
}

Status CuptiSource::register_buffers() {
  const Functions& cupti = library_.functions();
  // Our buffers are zeroed already: CUPTI need not do it inside a launch.
  if (cupti.cuptiActivitySetAttribute != nullptr) {
    std::uint8_t zeroed = 1;
    std::size_t size = sizeof(zeroed);
    cupti.cuptiActivitySetAttribute(kZeroedOutActivityBuffer, &size, &zeroed);
  }
  return library_.check(cupti.cuptiActivityRegisterCallbacks(&requested, &completed), "cuptiActivityRegisterCallbacks");
}

Status CuptiSource::enable_kinds() {
  const Functions& cupti = library_.functions();
  // Kernel thread ids, as our own threads have them; the default are those of pthreads.
  if (cupti.cuptiSetThreadIdType != nullptr) cupti.cuptiSetThreadIdType(kSystemThreadId);
  for (const Kind& each : kKinds) {
    if (!is_asked_for(each.kind, *options_)) continue;
    const Result result = cupti.cuptiActivityEnable(each.kind);
    if (result == kSuccess) {
      enabled_.push_back(each.kind);
    } else if (each.is_required || result == kInsufficientPrivileges) {
      disable_kinds();
      return library_.check(result, fmt::format("cuptiActivityEnable({})", each.name));
    }
  }
  // After the kind, which switches all of its functions on.
  if (cupti.cuptiActivityEnableRuntimeApi != nullptr)
    for (const std::uint32_t call : noisy_runtime_calls()) cupti.cuptiActivityEnableRuntimeApi(call, 0);
  if (cupti.cuptiActivityEnableDriverApi != nullptr)
    for (const std::uint32_t call : unneeded_driver_calls_) cupti.cuptiActivityEnableDriverApi(call, 0);
  return Status::ok();
}

void CuptiSource::disable_kinds() {
  disable_device_kinds();
  const Functions& cupti = library_.functions();
  for (; !enabled_.empty(); enabled_.pop_back()) cupti.cuptiActivityDisable(enabled_.back());
  if (cupti.cuptiSetThreadIdType != nullptr) cupti.cuptiSetThreadIdType(kDefaultThreadId);
}

void CuptiSource::disable_device_kinds() {
  for (; !enabled_.empty() && !is_kind_of_calls(enabled_.back()); enabled_.pop_back())
    library_.functions().cuptiActivityDisable(enabled_.back());
}

std::optional<std::uint64_t> CuptiSource::now() const {
  std::uint64_t ns = 0;
  return library_.functions().cuptiGetTimestamp(&ns) == kSuccess ? std::optional(ns) : std::nullopt;
}

Status CuptiSource::start() {
  // Without a clock no record could be placed.
  std::uint64_t begin = 0;
  if (Status readable = library_.check(library_.functions().cuptiGetTimestamp(&begin), "cuptiGetTimestamp"); !readable)
    return unsubscribe_unless_ok(std::move(readable));
  if (Status enabled = enable_kinds(); !enabled) return unsubscribe_unless_ok(std::move(enabled));
  sampler_.start(options_->clock, {[this](std::uint64_t* ns) { return library_.functions().cuptiGetTimestamp(ns) == kSuccess; }});
  decoder_ = std::make_unique<Decoder>(library_.functions(), graph_nodes(), ++recordings, options_->record_bytes);
  old_records_ = {};
  thread_.start("mindtorch-cupti", {.decode = [this](std::uint8_t* buffer, std::size_t valid) { decoder_->decode(buffer, valid); },
                                    .after_decoding = [this] { hand_over_records(); },
                                    .flush = [this] { library_.functions().cuptiActivityFlushAll(0); },
                                    .drain = [this] { drain(); }});
  std::lock_guard lock(mutex_);
  windows_ = {{.begin = now().value_or(begin)}};
  return Status::ok();
}

void CuptiSource::toggle(bool on) {
  std::lock_guard lock(mutex_);
  const bool is_on = windows_.back().end == kEndless;
  if (on == is_on) return;
  if (on) {
    if (enable_kinds()) windows_.push_back({.begin = now().value_or(0)});
  } else {
    windows_.back().end = now().value_or(kEndless - 1);
    // CUPTI still writes the records of work that was launched before, although their kinds are disabled.
    disable_kinds();
  }
}

record::DeviceBatch CuptiSource::stop() {
  {
    std::lock_guard lock(mutex_);
    windows_.back().end = std::min(windows_.back().end, now().value_or(kEndless));
  }
  const bool idle = synchronize_devices(options_->stop_deadline);
  thread_.stop();
  buffer_pool().trim(kWarmBuffers);
  unsubscribe();
  Decoder& decoder = *decoder_;
  if (!idle) decoder.note_deadline(options_->stop_deadline);
  std::vector<ClockSampler::Samples> samples = sampler_.stop();
  record::DeviceBatch batch = decoder.finish(windows(), samples.empty() ? ClockSampler::Samples{} : std::move(samples.front()));
  stopped_recording_ = recordings;
  captured_calls_ = decoder.captured_calls();
  replayed_calls_ = decoder.replayed_calls();
  decoder_.reset();
  batch.metadata.emplace_back("cupti_version", fmt::format("{}", library_.version()));
  if (const int version = driver_version(); version != 0) batch.metadata.emplace_back("cuda_driver_version", fmt::format("{}", version));
  return batch;
}

void CuptiSource::complete(trace::Recording& recording) {
  captured_ops().add_to(recording, replayed_calls_);
  captured_ops().learn(recording, stopped_recording_, captured_calls_);
}

std::vector<Decoder::Window> CuptiSource::windows() {
  std::lock_guard lock(mutex_);
  return windows_;
}

// Records that are not needed any more do not stay in memory: under spill they are written, under keep_last they become too old.
void CuptiSource::hand_over_records() {
  const std::optional<std::uint64_t> time = now();
  old_records_.remove_from(*decoder_, *options_, time);
  if (!options_->write_records || !time || decoder_->size() < kWriteStep) return;
  std::vector<ClockSampler::Samples> samples = sampler_.so_far();
  if (samples.empty() || samples.front().empty()) return;
  decoder_->set_samples(std::move(samples.front()));
  decoder_->write_before(*time - static_cast<std::uint64_t>(kSettled.count()), windows(), options_->write_records);
}

void CuptiSource::await_calls() {
  const std::vector<Decoder::Window> windows = this->windows();
  const auto deadline = std::chrono::steady_clock::now() + kCallPatience;
  while (true) {
    library_.functions().cuptiActivityFlushAll(0);
    thread_.decode_filled();
    if (!decoder_->lacks_calls(windows) || std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void CuptiSource::drain() {
  const Functions& cupti = library_.functions();
  // A call that is under way is recorded when it ends, and its kernel may be there already. No kernels are added while its end is awaited.
  disable_device_kinds();
  await_calls();
  disable_kinds();
  const Status flushed = library_.check(cupti.cuptiActivityFlushAll(kFlushForced), "cuptiActivityFlushAll");
  thread_.decode_filled();
  std::size_t dropped = 0;
  if (cupti.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == kSuccess)
    decoder_->count_dropped(dropped, "dropped by CUPTI for want of a buffer");
  if (!flushed) decoder_->count_dropped(1, fmt::format("or more, because the last flush failed ({})", flushed.reason()));
}

void CuptiSource::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = buffer_pool().take(may_refuse_buffers.load(std::memory_order_relaxed));
  *size = *buffer != nullptr ? buffer_pool().buffer_bytes() : 0;
  *max_records = 0;
}

void CuptiSource::completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  buffer_pool().complete(buffer, valid);
}

void CuptiSource::called_back(void* self, std::uint32_t domain, std::uint32_t callback_id, const void* data) {
  if (domain != kResourceDomain || data == nullptr) return;
  const auto* graph = static_cast<const GraphData*>(static_cast<const ResourceData*>(data)->descriptor);
  if (graph == nullptr) return;
  auto& source = *static_cast<CuptiSource*>(self);
  const Functions& cupti = source.library_.functions();
  std::uint64_t node = 0, original = 0;
  if (cupti.cuptiGetGraphNodeId(graph->node, &node) != kSuccess) return;
  if (callback_id == kGraphNodeCreated) {
    graph_nodes().created(node, {.captured_at = source.now().value_or(0),
                                 .thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid)),
                                 .op = record::innermost_open_name()});
  } else if (callback_id == kGraphNodeCloned && cupti.cuptiGetGraphNodeId(graph->original_node, &original) == kSuccess) {
    graph_nodes().cloned(node, original);
  }
}

}  // namespace mindtorch::sources::cupti
