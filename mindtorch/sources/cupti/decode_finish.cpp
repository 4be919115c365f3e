// The last step of decoding, when all buffers have arrived: drops records outside of the windows, and assigns to graph nodes the ops that
// captured them.
#include <fmt/format.h>

#include <algorithm>

#include "mindtorch/record/captured_ops.h"
#include "mindtorch/record/names.h"
#include "mindtorch/sources/cupti/decode.h"
#include "mindtorch/trace/launches.h"

namespace mindtorch::sources::cupti {

using record::DeviceRecord;

// A launch on a stream that is being captured makes a node instead of work. The node was created on the thread of the call, while it ran.
void Decoder::match_captures() {
  std::vector<GraphNodes::Created> created = nodes_.created_in(recording_);
  if (created.empty()) return;
  const auto key = [](const GraphNodes::Created& entry) { return std::pair(entry.origin.thread_id, entry.origin.captured_at); };
  std::ranges::sort(created, {}, key);
  for (DeviceRecord& record : batch_.records) {
    if (!trace::is_launch_kind(record.kind)) continue;
    auto at = std::ranges::lower_bound(created, std::pair(static_cast<std::uint32_t>(record.lane), record.start), {}, key);
    for (; at != created.end() && key(*at) <= std::pair(static_cast<std::uint32_t>(record.lane), record.end); ++at) {
      record.launches = false;
      // The runtime's call and the driver's call inside it have the same correlation, or the inner one is as good.
      nodes_.set_captured_call(at->node, recording_, record.correlation);
      batch_.captures.captured.push_back(record.correlation);
    }
  }
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
          is_earlier ? record::captured_call_key(origin->capture_recording, origin->capture_correlation) : origin->capture_correlation;
      row.push_back(batch_.attribute(trace::kCaptureCorrelation, static_cast<std::int64_t>(call)));
      if (is_earlier) batch_.captures.replayed.push_back(call);
    }
    const bool has_op = origin && origin->op != 0;
    row.push_back(
        batch_.text_attribute("captured by", has_op ? record::name_text(origin->op) : "not recorded when the graph was captured"));
    replaced[detail] = batch_.details.add(row);
  }
  if (replaced.empty()) return;
  for (DeviceRecord& record : batch_.records) {
    if (const auto found = replaced.find(record.detail); found != replaced.end()) record.detail = found->second;
  }
}

void Decoder::complete_records() {
  match_captures();
  name_captured_ops();
  place_events_at_their_calls();
}

void Decoder::write_before(Moment time, const std::vector<RecordStore::Window>& windows,
                           const std::function<void(record::DeviceBatch&)>& write) {
  store_.write_before(time, windows, [&](record::DeviceBatch& batch) {
    complete_records();
    write(batch);
  });
}

record::DeviceBatch Decoder::finish(const std::vector<RecordStore::Window>& windows, std::vector<record::BracketedSample> samples) {
  store_.drop_outside(windows);
  complete_records();
  batch_.captures.recording = recording_;
  store_.count_losses();
  if (samples.empty()) {
    batch_.count_dropped(batch_.records.size() + batch_.sample_count(), "cannot be placed, because CUPTI's clock could not be read");
    batch_.records.clear();
    batch_.clear_samples();
  } else {
    set_samples(std::move(samples));
  }
  if (properties_.empty()) properties_ = device_properties();
  for (const DeviceProperties& each : properties_) batch_.devices.push_back(each.reported);
  return store_.take();
}

}  // namespace mindtorch::sources::cupti
