// Assembly of an imported recording.
#include "mindtorch/ingest/chrome/trace_assembly.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "mindtorch/base/text.h"
#include "mindtorch/ingest/chrome/device_list.h"
#include "mindtorch/ingest/chrome/own_header.h"
#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/ingest/chrome/stack_references.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/clock_mapping.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace key = trace::chrome_format::header;
using trace::DeviceType;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;
using trace::Track;
using trace::TrackId;

class Assembly {
 public:
  Assembly(TracePart&& part, trace::MemoryBudget& budget) : part_(std::move(part)), recording_(part_.recording), budget_(budget) {}

  Recording run() {
    read_header();
    set_devices();
    make_tracks();
    set_timeline();
    add_counters();
    if (!own_) number_threads();
    const std::vector<TrackId> track_of_event = map_rows();
    resolve_stack_references(part_.stack_of_id, recording_.stacks);
    trace::order_rows(recording_.inputs, trace::SameEvent::kLastRow);
    trace::order_events(recording_, track_of_event);
    link_spans();
    if (!own_) infer_steps();
    trace::order_marks(recording_);
    return std::move(recording_);
  }

 private:
  // --- header ---

  void read_header() {
    auto& header = part_.header;
    const auto take = [&](std::string_view name) {
      auto node = header.extract(std::string(name));
      return node.empty() ? std::string() : std::move(node.mapped());
    };
    if (const std::string json = take(key::kOwn); !json.empty()) own_ = read_own_header(json, recording_, budget_);
    base_ns_ = within_reach(parse_integer(take(key::kBaseTime)).value_or(0));
    if (own_) keep_times_within_reach();
    trace::RecordedOptions& options = recording_.options;
    options.shapes = take(key::kRecordShapes) == "1";
    options.stacks = take(key::kWithStack) == "1";
    options.memory = take(key::kProfileMemory) == "1";
    options.flops = take(key::kWithFlops) == "1";
    options.modules = take(key::kWithModules) == "1";
    if (const std::string id = take(key::kTraceId); is_string(id)) recording_.trace_id = json_string_text(id);
    for (const std::string_view name : {key::kSchemaVersion, key::kDisplayTimeUnit, key::kTraceName}) take(name);
    if (const auto list = header.find(std::string(key::kDeviceProperties)); list != header.end() && take_devices(list->second))
      header.erase(list);
    for (auto& [name, json] : header) recording_.metadata[metadata_name(name)] = is_json(json) ? std::move(json) : json_quoted(json);
  }

  // Undoes what the writer does to metadata that has the name of a reserved key.
  static std::string metadata_name(std::string_view name) {
    if (!name.starts_with(key::kMetadataPrefix)) return std::string(name);
    const std::string_view plain = name.substr(key::kMetadataPrefix.size());
    return std::string(trace::chrome_format::is_reserved_key(plain) ? plain : name);
  }

  // --- devices ---

  // The category "kernel" does not name a vendor, but the runtime calls do.
  DeviceType accelerator() const { return part_.saw_npu && !part_.saw_cuda ? DeviceType::kNpu : DeviceType::kCuda; }

  bool take_devices(std::string_view json) {
    auto devices = read_device_list(json, accelerator(), budget_);
    if (!devices) return false;
    recording_.devices = std::move(*devices);
    if (!own_) return true;
    for (std::size_t i = 0; i < std::min(recording_.devices.size(), own_->device_types.size()); ++i)
      recording_.devices[i].device.type = own_->device_types[i];
    return true;
  }

  void set_devices() {
    const DeviceType type = accelerator();
    trace::EventColumns& events = recording_.events;
    for (EventIndex i = 0; i < events.size(); ++i) {
      if (trace::is_device_kind(events.kind[i])) events.device[i].type = type;
      const bool is_op = events.kind[i] == EventKind::kOp || events.kind[i] == EventKind::kBackward;
      if (own_ && own_->devices_known && is_op) events.flags[i] |= trace::kKnownDevice;
    }
  }

  // --- tracks ---

  void make_tracks() {
    track_of_row_.resize(part_.rows.size());
    add_own_tracks();
    const std::int64_t host_pid = first_host_pid();
    for (const auto& [is_device, row] : ranked_rows()) {
      const std::optional<TrackId> known = own_track(row);
      track_of_row_[row] = known ? *known : add_track(row, host_pid);
    }
  }

  // Rows of lanes repeat the track of the row they belong to.
  void add_own_tracks() {
    if (!own_) return;
    std::map<std::tuple<Track::Kind, trace::Device, std::int64_t, std::int64_t, std::uint32_t, std::string_view>, TrackId> known;
    for (const auto& [row, track] : own_->rows) {
      const auto next = static_cast<TrackId>(recording_.tracks.size());
      const auto [at, is_new] = known.try_emplace({track.kind, track.device, track.pid, track.id, track.number, track.name}, next);
      if (is_new) recording_.tracks.push_back(track);
      own_tracks_.try_emplace(row, at->second);
    }
  }

  // Threads first, then streams, each in the order they appear.
  std::vector<std::pair<bool, RowId>> ranked_rows() const {
    std::vector<std::pair<bool, RowId>> ranks;
    for (RowId r = 0; r < part_.rows.size(); ++r) ranks.push_back({part_.rows[r].is_device, r});
    std::ranges::sort(ranks);
    return ranks;
  }

  std::optional<TrackId> own_track(RowId row) const {
    const auto at = own_tracks_.find(part_.rows[row]);
    return at == own_tracks_.end() ? std::nullopt : std::optional(at->second);
  }

  std::int64_t first_host_pid() const {
    for (const RowKey& row : part_.rows) {
      if (!row.is_device) return parse_integer(row.pid).value_or(0);
    }
    return 1;
  }

  TrackId add_track(RowId row, std::int64_t host_pid) {
    const RowKey& key = part_.rows[row];
    Track track;
    track.kind = key.is_device ? Track::Kind::kStream : Track::Kind::kThread;
    track.pid = key.is_device ? host_pid : parse_integer(key.pid).value_or(0);
    track.id = key.is_device && part_.streams[row] >= 0 ? part_.streams[row] : parse_integer(key.tid).value_or(0);
    if (key.is_device) track.device = {accelerator(), static_cast<std::uint8_t>(parse_integer(key.pid).value_or(0))};
    const auto name = part_.row_names.find({key.pid, key.tid, false});
    if (name != part_.row_names.end()) track.name = plain_row_name(name->second, key.is_device);
    recording_.tracks.push_back(std::move(track));
    return static_cast<TrackId>(recording_.tracks.size() - 1);
  }

  // "thread 437 (python3)" -> "python3", "stream 7 " -> "".
  static std::string plain_row_name(std::string_view name, bool is_device) {
    const std::string_view word = is_device ? "stream " : "thread ";
    if (!name.starts_with(word)) return std::string(name);
    const std::size_t open = name.find('(');
    if (open == std::string_view::npos || !name.ends_with(')')) return "";
    return std::string(name.substr(open + 1, name.size() - open - 2));
  }

  std::vector<TrackId> map_rows() {
    std::vector<TrackId> tracks(part_.row_of_event.size());
    std::ranges::transform(part_.row_of_event, tracks.begin(), [&](RowId row) { return track_of_row_[row]; });
    for (TrackId& track : recording_.memory.track) track = track_of_row_[track];
    return tracks;
  }

  // --- time ---

  void set_timeline() {
    trace::ClockInfo& clock = recording_.clock;
    if (!own_) clock.base_unix_ns = base_ns_ + first_time();
    const std::int64_t shift = base_ns_ - clock.base_unix_ns;
    for (std::int64_t& time : recording_.events.start_ns) time = within_reach(time + shift);
    for (std::int64_t& time : recording_.memory.time_ns) time = within_reach(time + shift);
    if (own_) return;
    clock.start_ns = (part_.window_start_ns != TracePart::kNoTime ? part_.window_start_ns : first_time_) + shift;
    clock.end_ns = part_.window_end_ns != TracePart::kNoTime ? part_.window_end_ns + shift : clock.start_ns;
    for (EventIndex i = 0; i < recording_.events.size(); ++i) clock.end_ns = std::max(clock.end_ns, recording_.events.end_ns(i));
  }

  // --- counters ---

  // Whose rows each process shows, by its pid; the CPU stands for a host.
  std::map<std::string_view, trace::Device> device_of_process() const {
    std::map<std::string_view, trace::Device> devices;
    const auto add = [&](const RowKey& row, TrackId track) { devices.try_emplace(row.pid, recording_.tracks[track].device); };
    for (const auto& [row, track] : own_tracks_) add(row, track);
    for (RowId row = 0; row < part_.rows.size(); ++row) add(part_.rows[row], track_of_row_[row]);
    return devices;
  }

  // A device without rows has its number as pid.
  trace::Device device_of_pid(const std::string& pid) const {
    const std::int64_t index = parse_integer(pid).value_or(-1);
    return index >= 0 && index <= 0xFF ? trace::Device{accelerator(), static_cast<std::uint8_t>(index)} : trace::Device{};
  }

  void add_counters() {
    if (part_.counter_samples.empty()) return;
    const std::map<std::string_view, trace::Device> devices = device_of_process();
    std::map<std::tuple<trace::NameId, trace::NameId, trace::NameId>, std::size_t> known;
    const std::int64_t shift = base_ns_ - recording_.clock.base_unix_ns;
    for (const CounterSample& sample : part_.counter_samples) {
      const auto [at, is_new] = known.try_emplace({sample.name, sample.unit, sample.process}, recording_.counters.size());
      if (is_new) {
        const std::string &unit = recording_.names[sample.unit], &pid = recording_.names[sample.process];
        const auto shown = devices.find(pid);
        recording_.counters.push_back({recording_.names[sample.name],
                                       unit == trace::chrome_format::kNoUnit ? "" : unit,
                                       shown != devices.end() ? shown->second : device_of_pid(pid),
                                       {},
                                       {}});
      }
      trace::CounterTrack& counter = recording_.counters[at->second];
      counter.times_ns.push_back(within_reach(sample.time_ns + shift));
      counter.values.push_back(sample.value);
    }
    trace::join_counters(recording_.counters);
  }

  // Times, clocks and the difference of two clocks can be added up without overflow.
  void keep_times_within_reach() {
    trace::ClockInfo& clock = recording_.clock;
    for (std::int64_t* time : {&clock.base_unix_ns, &clock.start_ns, &clock.end_ns}) *time = within_reach(*time);
    for (trace::StepMark& mark : recording_.steps) mark.time_ns = within_reach(mark.time_ns);
    for (trace::MemoryTag& tag : recording_.memory_tags) tag.time_ns = within_reach(tag.time_ns);
  }
  static std::int64_t within_reach(std::int64_t time) { return std::clamp(time, -trace::kFarthestNs, trace::kFarthestNs); }

  std::int64_t first_time() {
    const auto& starts = recording_.events.start_ns;
    first_time_ = part_.window_start_ns;
    if (!starts.empty()) {
      const std::int64_t first = std::ranges::min(starts);
      first_time_ = first_time_ == TracePart::kNoTime ? first : std::min(first_time_, first);
    }
    if (first_time_ == TracePart::kNoTime) first_time_ = 0;
    return first_time_;
  }

  void infer_steps() {
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (recording_.events.kind[i] != EventKind::kStep) continue;
      const std::int64_t number = trace::step_of(recording_.events.link[i]);
      if (number >= 0) recording_.steps.push_back({recording_.events.start_ns[i], number});
    }
  }

  // --- threads ---

  // torch counts threads in the order in which they first record something; backward events name the thread of their forward op by that
  // number. Which thread that is shows where the forward op of the same sequence number lies.
  void number_threads() {
    std::map<std::int64_t, std::uint32_t> wanted;  // sequence number -> number of its forward thread
    std::set<std::uint32_t> numbers;
    const trace::EventColumns& events = recording_.events;
    for (EventIndex i = 0; i < events.size() && wanted.size() < 256; ++i) {
      const std::uint32_t number = trace::forward_thread_of(events.link[i]);
      if (events.kind[i] != EventKind::kBackward || number == 0) continue;
      wanted.emplace(trace::sequence_of(events.link[i]), number);
    }
    for (EventIndex i = 0; i < events.size() && !wanted.empty(); ++i) {
      if (events.kind[i] != EventKind::kOp || trace::sequence_of(events.link[i]) < 0) continue;
      const auto at = wanted.find(trace::sequence_of(events.link[i]));
      if (at == wanted.end()) continue;
      Track& track = recording_.tracks[track_of_row_[part_.row_of_event[i]]];
      if (track.number == 0 && numbers.insert(at->second).second) track.number = at->second;
    }
    std::uint32_t next = 1;
    for (Track& track : recording_.tracks) {
      if (track.kind != Track::Kind::kThread || track.number != 0) continue;
      while (numbers.contains(next)) ++next;
      track.number = next++;
    }
  }

  // --- spans of scopes ---

  // The span of a scope begins with the first work that was launched in it. A trace says neither the correlation nor the device of a span.
  void link_spans() {
    trace::EventColumns& events = recording_.events;
    for (const Track& track : recording_.tracks) {
      if (track.kind != Track::Kind::kStream) continue;
      const EventIndex end = track.first_event + track.event_count;
      for (EventIndex i = track.first_event; i < end; ++i) {
        if (events.kind[i] != EventKind::kDeviceScope) continue;
        events.device[i] = track.device;
        for (EventIndex work = i + 1; work < end && events.link[i] == 0 && events.start_ns[work] == events.start_ns[i]; ++work)
          events.link[i] = events.link[work];
      }
    }
  }

  TracePart part_;
  Recording& recording_;
  trace::MemoryBudget& budget_;
  std::optional<OwnHeader> own_;
  std::int64_t base_ns_ = 0;
  std::int64_t first_time_ = 0;
  std::vector<TrackId> track_of_row_;
  std::map<RowKey, TrackId> own_tracks_;
};

}  // namespace

Recording assemble(TracePart&& part, trace::MemoryBudget& budget) { return Assembly(std::move(part), budget).run(); }

}  // namespace mindtorch::ingest::chrome
