// Sessions of the CUPTI source: subscribing, collecting, draining.
#include "mindtorch/sources/cupti/cupti_source.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "mindtorch/record/open_op.h"
#include "mindtorch/sources/cupti/call_log.h"
#include "mindtorch/sources/cupti/driver.h"
#include "mindtorch/sources/cupti/kinds.h"
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
constexpr std::size_t kMostSamples = 8192;  // the last minute is sampled in full

// One for the process, never destroyed: CUPTI may hand buffers back at any time, and graphs outlive recordings.
BufferPool& buffer_pool() {
  static auto& pool = *new BufferPool(std::size_t{4} << 20, 64);
  return pool;
}
GraphNodes& graph_nodes() {
  static auto& nodes = *new GraphNodes();
  return nodes;
}
LayoutTable& layouts() {
  static auto& table = *new LayoutTable();
  return table;
}
std::atomic<std::uint32_t> recordings{0};  // since the process began
std::atomic<bool> may_refuse_buffers{false};

void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = buffer_pool().take(may_refuse_buffers.load(std::memory_order_relaxed));
  *size = *buffer != nullptr ? buffer_pool().buffer_bytes() : 0;
  *max_records = 0;
}
void completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) { buffer_pool().complete(buffer, valid); }
void shared_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, RequestInfo*) {
  requested(buffer, size, max_records);
}
void shared_completed(std::uint8_t* buffer, std::size_t, std::size_t valid, CompleteInfo* info) {
  buffer_pool().complete(buffer, valid, layouts().number_of(info));
}

// CUPTI of CUDA 13.0 crashes inside the launch of a graph that was instantiated before the kind GRAPH_TRACE was enabled.
bool can_record_whole_graphs(std::uint32_t version) { return version < 130000 || version >= 130100; }

}  // namespace

CuptiSource& cupti_source() {
  static auto& source = *new CuptiSource();
  return source;
}

CuptiSource::CuptiSource() : thread_(buffer_pool()) {}

CuptiSource::~CuptiSource() {
  if (thread_.is_running()) stop();
}

Status CuptiSource::probe() {
  if (Status driver = probe_driver(); !driver) return driver;
  return library_.load();
}

std::vector<std::pair<std::string, std::string>> CuptiSource::diagnose() {
  std::vector<std::pair<std::string, std::string>> facts = {{"library", library_.path()},
                                                            {"version", fmt::format("{}", library_.version())},
                                                            {"driver supports CUDA", fmt::format("{}", driver_version())}};
  const OpenedSubscription opened = open_subscription(library_, callbacks(), false, why_always_classic_);
  if (opened.subscription == nullptr) {
    facts.emplace_back("records", opened.status.reason());
    return facts;
  }
  facts.emplace_back("records", fmt::format("{}{}", opened.subscription->name(),
                                            opened.why_classic.empty() ? "" : fmt::format(" ({})", opened.why_classic)));
  const bool has_callbacks = opened.subscription->enable_call_callbacks();
  opened.subscription->disable_call_callbacks();
  facts.emplace_back("calls", has_callbacks ? "callbacks" : fmt::format("records ({})", opened.subscription->why_call_records()));
  TriedKinds kinds;
  for (const Kind& each : kKinds) {
    // The kind crashes some libraries as soon as a graph is launched, so it is not tried.
    if (each.kind == kGraphTrace) continue;
    const Result result = opened.subscription->enable(each.kind);
    if (result == kSuccess) opened.subscription->disable(each.kind);
    kinds.add(each.name, result == kSuccess ? "" : library_.explain(result));
  }
  for (auto& fact : kinds.facts()) facts.push_back(std::move(fact));
  return facts;
}

Status CuptiSource::prepare(const record::SourceOptions& options) {
  if (Status available = probe(); !available) return available;
  options_ = std::make_unique<record::SourceOptions>(options);
  limits_.clear();
  if (options_->whole_graphs && !can_record_whole_graphs(library_.version())) {
    options_->whole_graphs = false;
    limits_.emplace_back(
        "replays of CUDA graphs are recorded kernel by kernel, because CUPTI of CUDA 13.0 crashes when it records them as a whole");
  }
  may_refuse_buffers = library_.version() >= kFirstVersionThatTakesNoBuffer;
  buffer_pool().warm(kWarmBuffers);
  why_classic_ = why_always_classic_;
  return subscribe();
}

SourceCallbacks CuptiSource::callbacks() {
  return {.events = &called_back,
          .user = this,
          .clock_owner = &clock_owner_,
          .requested = &requested,
          .completed = &completed,
          .shared_requested = &shared_requested,
          .shared_completed = &shared_completed};
}

// Each session has a subscription of its own. One that cannot run leaves the library to other tools.
Status CuptiSource::subscribe() {
  subscription_.reset();
  OpenedSubscription opened = open_subscription(library_, callbacks(), options_->whole_graphs, why_classic_);
  subscription_ = std::move(opened.subscription);
  why_classic_ = std::move(opened.why_classic);
  return std::move(opened.status);
}

std::vector<std::string> CuptiSource::limits() const {
  std::vector<std::string> all = limits_;
  if (subscription_ != nullptr) all.insert(all.end(), subscription_->limits().begin(), subscription_->limits().end());
  return all;
}

std::optional<std::uint64_t> CuptiSource::now() const {
  std::uint64_t ns = 0;
  return subscription_->read_clock(&ns) == kSuccess ? std::optional(ns) : std::nullopt;
}

Status CuptiSource::begin(std::uint64_t* time) {
  // Without a clock no record could be placed.
  if (Status readable = library_.check(subscription_->read_clock(time), "cuptiGetTimestamp"); !readable) return readable;
  return enable_kinds();
}

// Callbacks may come as soon as they are enabled, and nothing is written down that CUPTI still tells of after they have been disabled.
Status CuptiSource::enable_kinds() {
  call_log().begin(options_->clock);
  Status enabled = subscription_->enable_kinds(*options_);
  has_call_records_ = !subscription_->has_call_callbacks();
  if (!enabled || has_call_records_) call_log().end();
  return enabled;
}

void CuptiSource::disable_kinds() {
  subscription_->disable_kinds();
  call_log().end();
}

Moment CuptiSource::moment(std::uint64_t otherwise) const {
  return {.vendor = now().value_or(otherwise), .session = options_->clock.ticks()};
}

Status CuptiSource::start() {
  call_log().take_all([](const TakenCall&) {});  // what came too late for an earlier session
  call_log().take_refused();
  std::uint64_t time = 0;
  Status begun = begin(&time);
  if (!begun && why_classic_.empty()) {
    why_classic_ = begun.reason();
    begun = subscribe();
    if (begun) begun = begin(&time);
  }
  if (!begun) {
    subscription_.reset();
    return begun;
  }
  why_always_classic_ = why_classic_;
  pm_sampling_.start(library_, options_->extras, limits_);
  sampler_.start(options_->clock, {[this](std::uint64_t* ns) { return subscription_->read_clock(ns) == kSuccess; }});
  decoder_ = std::make_unique<Decoder>(library_.functions(), graph_nodes(), ++recordings, options_->record_bytes);
  decoder_->set_extra_parts(subscription_->extra_parts());
  if (subscription_->has_call_callbacks()) decoder_->expect_calls_of_callbacks();
  old_records_ = {};
  thread_.start("mindtorch-cupti", {.decode = [this](const BufferPool::Filled& buffer) { decode(buffer); },
                                    .after_decoding =
                                        [this] {
                                          take_calls();
                                          hand_over_records();
                                        },
                                    .flush = [this] { library_.functions().cuptiActivityFlushAll(0); },
                                    .drain = [this] { drain(); },
                                    .longest_wait = pm_sampling_.longest_wait(DecodeThread::kFlushPeriod)});
  std::lock_guard lock(mutex_);
  windows_ = {{.begin = moment(time)}};
  return Status::ok();
}

void CuptiSource::decode(const BufferPool::Filled& buffer) {
  if (buffer.layout == 0)
    decoder_->decode(buffer.bytes, buffer.valid);
  else
    decoder_->decode(buffer.bytes, buffer.valid, layouts().at(buffer.layout));
}

void CuptiSource::toggle(bool on) {
  std::lock_guard lock(mutex_);
  const bool is_on = windows_.back().end.session == kForever.session;
  if (on == is_on) return;
  if (on) {
    if (enable_kinds()) windows_.push_back({.begin = moment(0)});
  } else {
    windows_.back().end = moment(kForever.vendor);
    // CUPTI still writes the records of work that was launched before, although their kinds are disabled.
    disable_kinds();
  }
}

record::DeviceBatch CuptiSource::stop() {
  {
    std::lock_guard lock(mutex_);
    if (windows_.back().end.session == kForever.session) windows_.back().end = moment(kForever.vendor);
  }
  const bool idle = wait_for_devices(options_->stop_deadline);
  thread_.stop();
  buffer_pool().trim(kWarmBuffers);
  Decoder& decoder = *decoder_;
  if (!idle) decoder.store().note_deadline(options_->stop_deadline);
  decoder.store().count_dropped(thread_.failures(), "or more, for want of memory");
  std::vector<ClockSampler::Samples> samples = sampler_.stop();
  const std::string records = why_classic_.empty() ? "\"user-defined\"" : "\"classic\"";
  const std::string calls = subscription_->has_call_callbacks() ? "\"callbacks\"" : "\"records\"";
  subscription_.reset();
  record::DeviceBatch batch = decoder.finish(windows(), samples.empty() ? ClockSampler::Samples{} : std::move(samples.front()));
  decoder_.reset();
  batch.metadata.emplace_back("cupti_version", fmt::format("{}", library_.version()));
  batch.metadata.emplace_back("cupti_records", records);
  batch.metadata.emplace_back("cupti_calls", calls);
  if (const int version = driver_version(); version != 0) batch.metadata.emplace_back("cuda_driver_version", fmt::format("{}", version));
  return batch;
}

std::vector<RecordStore::Window> CuptiSource::windows() {
  std::lock_guard lock(mutex_);
  return windows_;
}

void CuptiSource::take_calls() {
  call_log().take_ended([this](const TakenCall& taken) { decoder_->add(taken); });
}

// Records that are not needed any more do not stay in memory: under spill they are written, under keep_last they become too old.
void CuptiSource::hand_over_records() {
  const std::optional<std::uint64_t> time = now();
  if (time) pm_sampling_.collect(decoder_->store(), *time);
  old_records_.remove_from(decoder_->store(), *options_, time);
  if (!options_->write_records || !time || decoder_->store().size() < kWriteStep) return;
  sampler_.thin(kMostSamples);
  std::vector<ClockSampler::Samples> samples = sampler_.so_far();
  if (samples.empty() || samples.front().empty()) return;
  decoder_->set_samples(std::move(samples.front()));
  const auto settled_ticks = static_cast<std::uint64_t>(static_cast<double>(kSettled.count()) / options_->clock.ns_per_tick());
  const Moment settled{.vendor = *time - static_cast<std::uint64_t>(kSettled.count()), .session = options_->clock.ticks() - settled_ticks};
  decoder_->write_before(settled, windows(), options_->write_records);
}

void CuptiSource::await_calls() {
  const std::vector<RecordStore::Window> windows = this->windows();
  const auto deadline = std::chrono::steady_clock::now() + kCallPatience;
  while (true) {
    library_.functions().cuptiActivityFlushAll(0);
    thread_.decode_filled();
    take_calls();
    if (!decoder_->store().lacks_calls(windows) || std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void CuptiSource::drain() {
  // A call that is under way is recorded when it ends, and its kernel may be there already. No kernels are added while its end is awaited.
  pm_sampling_.stop(decoder_->store(), now().value_or(0));
  subscription_->disable_device_kinds();
  await_calls();
  disable_kinds();
  call_log().take_all([this](const TakenCall& taken) { decoder_->add(taken); });
  decoder_->store().count_dropped(call_log().take_refused(),
                                  "calls that could not be written down, for want of memory or because they were nested too deeply");
  const Status flushed = library_.check(library_.functions().cuptiActivityFlushAll(kFlushForced), "cuptiActivityFlushAll");
  thread_.decode_filled();
  std::size_t dropped = 0;
  if (subscription_->count_dropped(&dropped) == kSuccess) decoder_->store().count_dropped(dropped, "dropped by CUPTI for want of a buffer");
  if (!flushed) decoder_->store().count_dropped(1, fmt::format("or more, because the last flush failed ({})", flushed.reason()));
}

// For callbacks: the subscription may be closing on another thread. Where nothing has been asked for, there is no call either.
std::uint64_t CuptiSource::callback_time() const {
  if (call_log().is_on()) return call_log().ticks();
  if (!has_call_records_) return 0;
  std::uint64_t now = 0;
  const Subscriber owner = clock_owner_.load();
  if (owner != nullptr)
    library_.subscriber_functions().cuptiGetTimestamp_v2(owner, &now);
  else
    library_.functions().cuptiGetTimestamp(&now);
  return now;
}

void CuptiSource::called_back(void* self, std::uint32_t domain, std::uint32_t callback_id, const void* data) {
  if (data == nullptr) return;
  if (domain == kRuntimeApi || domain == kDriverApi)
    return call_log().called_back(domain, callback_id, *static_cast<const CallbackData*>(data));
  if (domain != kResourceDomain) return;
  try {
    static_cast<const CuptiSource*>(self)->node_called_back(callback_id, *static_cast<const ResourceData*>(data));
  } catch (const std::bad_alloc&) {
    // Nobody is told where this node of a graph comes from. CUPTI, which calls, knows no exceptions.
  }
}

void CuptiSource::node_called_back(std::uint32_t callback_id, const ResourceData& data) const {
  const auto* graph = static_cast<const GraphData*>(data.descriptor);
  if (graph == nullptr) return;
  const Functions& cupti = library_.functions();
  std::uint64_t node = 0, original = 0;
  if (cupti.cuptiGetGraphNodeId(graph->node, &node) != kSuccess) return;
  if (callback_id == kGraphNodeCreated) {
    graph_nodes().created(node, {.recording = recordings,
                                 .captured_at = callback_time(),
                                 .thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid)),
                                 .op = record::innermost_open_name()});
  } else if (callback_id == kGraphNodeCloned && cupti.cuptiGetGraphNodeId(graph->original_node, &original) == kSuccess) {
    graph_nodes().cloned(node, original);
  }
}

}  // namespace mindtorch::sources::cupti
