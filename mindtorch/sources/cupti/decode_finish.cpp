// The last step of decoding, when all buffers have arrived: drops records outside of the windows, and assigns to graph nodes the ops that
// captured them.
#include <fmt/format.h>

#include <algorithm>

#include "mindtorch/record/names.h"
#include "mindtorch/sources/cupti/captured_ops.h"
#include "mindtorch/sources/cupti/decode.h"

namespace mindtorch::sources::cupti {
namespace {

using record::DeviceRecord;

bool is_inside(const std::vector<Decoder::Window>& windows, std::uint64_t time) {
  return std::ranges::any_of(windows, [&](const Decoder::Window& window) { return time >= window.begin && time <= window.end; });
}

// A launch that is under way when recording ends does not belong to the recording, because its kernel may or may not be there.
bool is_call_inside(const std::vector<Decoder::Window>& windows, const DeviceRecord& call) {
  return is_inside(windows, call.start) && (!call.launches || is_inside(windows, call.end));
}

void make_set(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

void Decoder::forget_before(std::uint64_t time) {
  // Correlations count up. All calls up to the last one that ended too early are dropped, together with the work that they launched, so
  // that no call is separated from its work.
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind) && record.end < time)
      forgotten_correlation_ = std::max(forgotten_correlation_, record.correlation);
  }
  batch_.overwritten += std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    return record.correlation != 0 ? record.correlation <= forgotten_correlation_ : record.end < time;
  });
}

Decoder::Calls Decoder::find_calls(const std::vector<Window>& windows) const {
  Calls calls;
  for (const DeviceRecord& record : batch_.records) {
    if (!trace::is_launch_kind(record.kind)) continue;
    if (!is_call_inside(windows, record)) {
      calls.outside.insert(record.correlation);
      continue;
    }
    calls.first = std::min(calls.first, record.correlation);
    calls.last = std::max(calls.last, record.correlation);
  }
  calls.last = std::max(calls.last, last_refused_call_);
  return calls;
}

bool Decoder::lacks_calls(const std::vector<Window>& windows) const {
  if (over_budget_ > 0) return false;  // a missing call may have been refused
  const Calls calls = find_calls(windows);
  std::vector<std::uint64_t> called, executed;
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind))
      called.push_back(record.correlation);
    else if (record.correlation != 0 && calls.has_launched(record.correlation) &&
             (executed.empty() || executed.back() != record.correlation))
      executed.push_back(record.correlation);
  }
  make_set(called);
  make_set(executed);
  return !std::ranges::includes(called, executed);
}

// A kernel belongs to the recording if its launch does. The call of a kernel may not be there because it was under way when recording began
// or ended; correlations count up, so that it lies before the first or after the last call of the recording.
void Decoder::drop_outside(const std::vector<Window>& windows) {
  const Calls calls = find_calls(windows);
  std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    if (trace::is_launch_kind(record.kind)) return !is_call_inside(windows, record);
    if (record.correlation == 0) return !is_inside(windows, record.start);
    return !calls.has_launched(record.correlation);
  });
  for (std::vector<std::uint64_t>* unplaced : {&without_time_, &unfinished_})
    std::erase_if(*unplaced, [&](std::uint64_t correlation) { return !calls.has_launched(correlation); });
}

// A launch on a stream that is being captured makes a node instead of work. The node was created on the thread of the call, while it ran.
void Decoder::match_captures(std::uint64_t since) {
  std::vector<GraphNodes::Created> created = nodes_.created_since(since);
  if (created.empty()) return;
  const auto key = [](const GraphNodes::Created& entry) { return std::pair(entry.origin.thread_id, entry.origin.captured_at); };
  std::ranges::sort(created, {}, key);
  for (DeviceRecord& record : batch_.records) {
    if (!trace::is_launch_kind(record.kind)) continue;
    auto at = std::ranges::lower_bound(created, std::pair(static_cast<std::uint32_t>(record.lane), record.start), {}, key);
    for (; at != created.end() && key(*at) <= std::pair(static_cast<std::uint32_t>(record.lane), record.end); ++at) {
      record.launches = false;
      // The runtime's call and the driver's call inside it have the same correlation, or the inner one is as good.
      nodes_.set_captured_call(at->node, recording_, static_cast<std::uint32_t>(record.correlation));
      captured_calls_.push_back(record.correlation);
    }
  }
  make_set(captured_calls_);
}

// Completes the details of nodes: which call captured them, and under which op.
void Decoder::name_captured_ops() {
  std::unordered_map<std::uint32_t, std::uint32_t> replaced;
  for (const auto& [detail, node] : node_of_detail_) {
    const auto stored = batch_.details.row(detail);
    std::vector<trace::Attribute> row(stored.begin(), stored.end());
    row.push_back(batch_.attribute("graph id", static_cast<std::int64_t>(node >> 32)));
    const std::optional<NodeOrigin> origin = nodes_.find(node);
    if (origin && origin->capture_correlation != 0) {
      const bool is_earlier = origin->capture_recording != recording_;
      const std::uint64_t call =
          is_earlier ? captured_call_key(origin->capture_recording, origin->capture_correlation) : origin->capture_correlation;
      row.push_back(batch_.attribute("capture correlation", static_cast<std::int64_t>(call)));
      if (is_earlier) replayed_calls_.push_back(call);
    }
    const bool has_op = origin && origin->op != 0;
    row.push_back(
        batch_.text_attribute("captured by", has_op ? record::name_text(origin->op) : "not recorded when the graph was captured"));
    replaced[detail] = batch_.details.add(row);
  }
  make_set(replayed_calls_);
  if (replaced.empty()) return;
  for (DeviceRecord& record : batch_.records) {
    if (const auto found = replaced.find(record.detail); found != replaced.end()) record.detail = found->second;
  }
}

record::DeviceBatch Decoder::finish(std::vector<Window> windows, std::vector<record::BracketedSample> samples) {
  drop_outside(windows);
  match_captures(windows.empty() ? 0 : windows.front().begin);
  name_captured_ops();
  batch_.count_dropped(over_budget_, "over the byte budget of the recording");
  batch_.count_dropped(without_time_.size(), "came without a time");
  batch_.count_dropped(unfinished_.size(), "still running when the recording stopped");
  if (deadline_.count() > 0)
    batch_.dropped_detail += fmt::format("{}the device was still busy after {} ms, so kernels that ended later are missing",
                                         batch_.dropped_detail.empty() ? "" : ", ", deadline_.count());
  batch_.count_dropped(unknown_, "of an unknown kind");
  if (samples.empty()) {
    batch_.count_dropped(batch_.records.size(), "cannot be placed, because CUPTI's clock could not be read");
    batch_.records.clear();
  } else {
    batch_.clocks = {{.name = "cupti", .samples = std::move(samples)}};
  }
  if (properties_.empty()) properties_ = device_properties();
  for (const DeviceProperties& each : properties_) batch_.devices.push_back(each.reported);
  return std::move(batch_);
}

}  // namespace mindtorch::sources::cupti
