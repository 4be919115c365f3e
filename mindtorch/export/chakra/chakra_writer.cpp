// Chakra execution traces: a node for the process, one for each thread, and one for each op, children before their parents.
#include "mindtorch/export/chakra/chakra_writer.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <string_view>
#include <unordered_map>

#include "mindtorch/base/text.h"
#include "mindtorch/export/call_ids.h"
#include "mindtorch/export/chakra/chakra_values.h"
#include "mindtorch/export/output.h"

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::TrackId;

constexpr std::uint64_t kRoot = 1;
constexpr std::uint64_t kNoNode = 0;
constexpr EventIndex kNoEvent = ~EventIndex{0};
// torch's RecordScope.
constexpr int kFunction = 0, kBackwardFunction = 1, kUserScope = 7;

int scope_of(EventKind kind) { return kind == EventKind::kOp ? kFunction : kind == EventKind::kBackward ? kBackwardFunction : kUserScope; }

struct Node {
  std::uint64_t id = 0;
  std::string_view name;
  std::uint64_t parent = 0;
  std::uint64_t record_function = 0;
  std::uint64_t forward_parent = 0;
  std::int64_t sequence = -1;
  int scope = kUserScope;
  std::uint64_t thread = 0;
  std::uint64_t forward_thread = 0;
};

class ChakraWriter {
 public:
  ChakraWriter(const trace::Recording& recording, const ChakraOptions& options, Output& out)
      : recording_(recording),
        options_(options),
        out_(out),
        args_key_(find_name("args")),
        call_ids_(recording),
        numbers_(recording),
        ids_(recording.events.size(), kNoNode),
        parents_(recording.events.size(), kNoEvent) {
    for (TrackId track = 0; track < recording.tracks.size(); ++track)
      if (recording.tracks[track].kind == trace::Track::Kind::kThread) thread_of_number_.try_emplace(recording.tracks[track].number, track);
  }

  void write();

 private:
  trace::NameId find_name(std::string_view name) const {
    const auto found = std::find(recording_.names.begin(), recording_.names.end(), name);
    return found == recording_.names.end() ? 0 : static_cast<trace::NameId>(found - recording_.names.begin());
  }
  bool is_wanted(EventIndex event) const;
  std::int64_t pid() const;
  void number_nodes();
  void write_thread(TrackId track);
  void write_event(EventIndex event, TrackId track);
  std::uint64_t node_or_thread(EventIndex event, TrackId track) const { return event != kNoEvent ? ids_[event] : thread_ids_[track]; }
  std::uint64_t forward_parent(EventIndex event) const;
  trace::CallDetails details_of(EventIndex event);
  chakra::ValueLists inputs_of(EventIndex event);
  void write_process_groups();
  void write_node(const Node& node, const trace::CallDetails& details);

  const trace::Recording& recording_;
  const ChakraOptions& options_;
  Output& out_;
  const trace::NameId args_key_;
  const CallIds call_ids_;
  chakra::TensorNumbers numbers_;
  std::vector<std::uint64_t> ids_;         // of events; kNoNode if left out
  std::vector<EventIndex> parents_;        // of events: the innermost one around them that is not left out
  std::vector<std::uint64_t> thread_ids_;  // of tracks
  std::unordered_map<std::uint32_t, TrackId> thread_of_number_;
  std::uint64_t last_id_ = 0;
  bool first_ = true;
};

bool ChakraWriter::is_wanted(EventIndex event) const {
  const EventKind kind = recording_.events.kind[event];
  if (kind != EventKind::kOp && kind != EventKind::kBackward && !trace::is_user_kind(kind)) return false;
  const std::int64_t start = recording_.events.start_ns[event];
  const auto is_around = [&](const TimeWindow& window) { return window.start_ns <= start && start <= window.end_ns; };
  return options_.windows.empty() || std::ranges::any_of(options_.windows, is_around);
}

std::int64_t ChakraWriter::pid() const {
  const auto thread = std::find_if(recording_.tracks.begin(), recording_.tracks.end(),
                                   [](const trace::Track& track) { return track.kind == trace::Track::Kind::kThread; });
  return thread != recording_.tracks.end() ? thread->pid : 0;
}

void ChakraWriter::number_nodes() {
  std::uint64_t& next = last_id_;
  next = kRoot + 1;
  for (const trace::Track& track : recording_.tracks) {
    thread_ids_.push_back(next++);
    EventIndex inner = kNoEvent;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      while (inner != kNoEvent && recording_.events.end_ns(inner) <= recording_.events.start_ns[i]) inner = parents_[inner];
      parents_[i] = inner;
      if (!is_wanted(i)) continue;
      ids_[i] = next++;
      inner = i;
    }
  }
}

void ChakraWriter::write() {
  number_nodes();
  const std::int64_t start_ns = recording_.clock.base_unix_ns + recording_.clock.start_ns;
  const std::int64_t end_ns = recording_.clock.base_unix_ns + recording_.clock.end_ns;
  out_.append(fmt::format("{{\n  \"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": {}, \"time\": \"{:%Y-%m-%d %H:%M:%S}\", \"start_ts\": {},\n",
                          pid(), fmt::localtime(static_cast<std::time_t>(start_ns / 1'000'000'000)), start_ns / 1'000'000));
  out_.append("  \"nodes\": [");
  for (TrackId track = 0; track < recording_.tracks.size(); ++track)
    if (recording_.tracks[track].kind == trace::Track::Kind::kThread) write_thread(track);
  if (!options_.process_groups.empty()) write_process_groups();
  write_node({.id = kRoot, .name = "[pytorch|profiler|execution_trace|process]", .parent = kRoot}, {});
  out_.append(fmt::format("\n  ],\n  \"finish_ts\": {}\n}}\n", end_ns / 1'000'000));
}

void ChakraWriter::write_thread(TrackId track) {
  const trace::Track& thread = recording_.tracks[track];
  const EventIndex first = thread.first_event, last = first + thread.event_count;
  if (std::all_of(ids_.begin() + first, ids_.begin() + last, [](std::uint64_t id) { return id == kNoNode; })) return;
  write_node({.id = thread_ids_[track], .name = "[pytorch|profiler|execution_trace|thread]", .parent = kRoot, .thread = thread.number}, {});
  std::vector<EventIndex> open;
  const auto write_until = [&](EventIndex parent) {
    for (; !open.empty() && open.back() != parent; open.pop_back()) write_event(open.back(), track);
  };
  for (EventIndex i = first; i < last; ++i) {
    if (ids_[i] == kNoNode) continue;
    write_until(parents_[i]);
    open.push_back(i);
  }
  write_until(kNoEvent);
}

void ChakraWriter::write_event(EventIndex event, TrackId track) {
  const trace::EventColumns& events = recording_.events;
  const bool has_sequence = events.kind[event] == EventKind::kOp || events.kind[event] == EventKind::kBackward;
  write_node({.id = ids_[event],
              .name = recording_.name(event),
              .parent = node_or_thread(parents_[event], track),
              .record_function = call_ids_.of(event),
              .forward_parent = forward_parent(event),
              .sequence = has_sequence ? trace::sequence_of(events.link[event]) : -1,
              .scope = scope_of(events.kind[event]),
              .thread = recording_.tracks[track].number,
              .forward_thread = has_sequence ? trace::forward_thread_of(events.link[event]) : 0},
             details_of(event));
}

// The node that torch's observer writes about them, which replays read before all others.
void ChakraWriter::write_process_groups() {
  trace::CallDetails details;
  chakra::append_text(options_.process_groups, details.inputs);
  write_node({.id = last_id_ + 1, .name = "## process_group:init ##", .parent = kRoot}, details);
}

trace::CallDetails ChakraWriter::details_of(EventIndex event) {
  const auto number = options_.details != nullptr ? call_ids_.given(event) : std::nullopt;
  if (number)
    if (const auto found = options_.details->find(*number); found != options_.details->end()) return found->second;
  return {.inputs = inputs_of(event)};
}

// As in torch: the innermost node of the thread of the forward call when this node was evaluated.
std::uint64_t ChakraWriter::forward_parent(EventIndex event) const {
  const trace::EventColumns& events = recording_.events;
  const std::uint32_t number = events.kind[event] == EventKind::kBackward ? trace::forward_thread_of(events.link[event]) : 0;
  const auto found = number == 0 ? thread_of_number_.end() : thread_of_number_.find(number);
  if (found == thread_of_number_.end()) return kNoNode;
  const trace::Track& thread = recording_.tracks[found->second];
  const std::int64_t now = events.start_ns[event];
  const auto begin = events.start_ns.begin() + thread.first_event;
  const auto started = static_cast<EventIndex>(std::lower_bound(begin, begin + thread.event_count, now) - begin);
  EventIndex inner = started == 0 ? kNoEvent : thread.first_event + started - 1;
  while (inner != kNoEvent && (ids_[inner] == kNoNode || events.end_ns(inner) < now)) inner = parents_[inner];
  return node_or_thread(inner, found->second);
}

chakra::ValueLists ChakraWriter::inputs_of(EventIndex event) {
  chakra::ValueLists lists;
  const auto words = recording_.inputs.find(event);
  if (!words.empty()) {
    numbers_.begin(event);
    chakra::append_inputs(words, recording_.names, recording_.events.device[event], numbers_, lists);
  }
  if (args_key_ != 0 && words.empty())
    for (const trace::Attribute& attribute : recording_.attributes.find(event))
      if (attribute.key == args_key_ && attribute.type == trace::Attribute::Type::kText)
        chakra::append_text(recording_.names[static_cast<std::size_t>(attribute.bits)], lists);
  return lists;
}

void ChakraWriter::write_node(const Node& node, const trace::CallDetails& details) {
  const auto number = [](std::string_view name, std::string_view type, auto value) {
    return fmt::format(R"({{"name": "{}", "type": "{}", "value": {}}})", name, type, value);
  };
  const auto text = [](std::string_view name, std::string_view value) {
    return fmt::format(R"({{"name": "{}", "type": "string", "value": {}}})", name, json_quoted(value));
  };
  out_.append(fmt::format("{}\n    {{\n      \"id\": {}, \"name\": {}, \"ctrl_deps\": {},\n", first_ ? "" : ",", node.id,
                          json_quoted(node.name), node.parent));
  first_ = false;
  out_.append(
      fmt::format("      \"inputs\": {},\n      \"outputs\": {},\n", chakra::to_json(details.inputs), chakra::to_json(details.outputs)));
  out_.append(fmt::format(
      "      \"attrs\": [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}{}{}]\n    }}", number("rf_id", "uint64", node.record_function),
      number("fw_parent", "uint64", node.forward_parent), number("seq_id", "int64", node.sequence), number("scope", "uint64", node.scope),
      number("tid", "uint64", node.thread), number("fw_tid", "uint64", node.forward_thread), text("op_schema", details.schema),
      text("kernel_backend", details.kernel_backend), text("kernel_file", details.kernel_file), text("tensor_range", ""),
      details.attributes.empty() ? "" : ", ", details.attributes));
}

}  // namespace

void write_chakra_trace(const trace::Recording& recording, const std::string& path, const ChakraOptions& options) {
  Output out(path);
  ChakraWriter(recording, options, out).write();
  out.commit();
}

}  // namespace mindtorch::exporter
