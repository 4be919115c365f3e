// The rule about copies that the next op undoes.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/copy_bandwidth.h"
#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/rules.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

// What a copy may change about a tensor.
struct Form {
  trace::ScalarType dtype = trace::ScalarType::kOther;
  std::vector<std::int64_t> strides;  // empty: contiguous
  friend bool operator==(const Form&, const Form&) = default;
};

// An op that no other op calls, and the copy that it makes, if it makes one.
struct CopyingOp {
  EventIndex op = kNoEvent;
  std::vector<std::int64_t> sizes;
  Form from, to;
  std::int64_t bytes_to_host = 0, bytes_to_device = 0;

  bool changes_form() const { return !sizes.empty() && !(from == to); }
  bool copies() const { return changes_form() || bytes_to_host > 0 || bytes_to_device > 0; }
};

// Whether `second` brings back what `first` had changed.
bool is_undone(const CopyingOp& first, const CopyingOp& second) {
  constexpr std::int64_t kScalars = 64;  // bytes; a loss that is read and a learning rate that is written are not one tensor
  if (first.bytes_to_host > kScalars && first.bytes_to_host == second.bytes_to_device) return true;
  if (first.bytes_to_device > kScalars && first.bytes_to_device == second.bytes_to_host) return true;
  return first.changes_form() && first.sizes == second.sizes && first.from == second.to && first.to == second.from;
}

// Ops that compute nothing may stand between two copies.
bool computes_nothing(std::string_view name) {
  return name.starts_with("aten::detach") || name.starts_with("aten::empty") || name.starts_with("aten::lift_fresh") ||
         name.starts_with("aten::resolve_");
}

// Pairs of neighbouring ops of a thread of which the second undoes the copy of the first. That the op next to a copy undoes it shows that
// nothing was computed with its result.
class UndoneCopies {
 public:
  explicit UndoneCopies(const Analysis& analysis) : analysis_(analysis), recording_(analysis.recording()) {}

  // Both ops of each pair.
  std::vector<EventIndex> find() {
    if (!has_copies()) return {};
    find_outermost_ops();
    add_transfers();
    for (const trace::Track& track : recording_.tracks) {
      if (track.kind != trace::Track::Kind::kThread) continue;
      current_ = previous_ = {};
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) visit(i);
      finish_current();
    }
    return std::move(undone_);
  }

 private:
  bool has_copies() const {
    return std::ranges::find(recording_.names, "aten::copy_") != recording_.names.end() ||
           std::ranges::find(recording_.events.kind, EventKind::kMemcpy) != recording_.events.kind.end();
  }

  void find_outermost_ops() {
    outermost_.assign(recording_.events.size(), kNoEvent);
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (!analysis_.tree().is_node(i)) continue;
      const EventIndex parent = analysis_.tree().parent(i);  // nodes follow their parents
      if (parent != kNoEvent) outermost_[i] = outermost_[parent];
      if (outermost_[i] == kNoEvent && recording_.events.kind[i] == EventKind::kOp) outermost_[i] = i;
    }
  }

  // Copies between host and device, by the op that caused them.
  void add_transfers() {
    for (EventIndex i = 0; i < recording_.events.size(); ++i) {
      if (recording_.events.kind[i] != EventKind::kMemcpy) continue;
      const EventIndex host = analysis_.launches().host_of(i);
      if (host == kNoEvent || outermost_[host] == kNoEvent) continue;
      CopyingOp& op = transfers_[outermost_[host]];
      if (contains(recording_.name(i), "DtoH")) op.bytes_to_host += bytes_of(i);
      if (contains(recording_.name(i), "HtoD")) op.bytes_to_device += bytes_of(i);
    }
  }

  std::int64_t bytes_of(EventIndex i) const { return copied_bytes(recording_, recording_.attributes.find(i)).value_or(0); }

  void visit(EventIndex i) {
    if (!analysis_.tree().is_node(i) || outermost_[i] == kNoEvent) return;
    if (outermost_[i] == i) {
      finish_current();
      const auto transfer = transfers_.find(i);
      current_ = transfer == transfers_.end() ? CopyingOp() : transfer->second;
      current_.op = i;
    }
    if (recording_.name(i) == "aten::copy_") read_form(i);
  }

  // aten::copy_(to, from, non_blocking)
  void read_form(EventIndex copy) {
    read_arguments(recording_.inputs.find(copy), arguments_);
    if (arguments_.size() < 2 || arguments_[0].kind != trace::Input::Kind::kTensor || arguments_[1].kind != trace::Input::Kind::kTensor)
      return;
    const auto list = [](std::span<const std::int64_t> values) { return std::vector<std::int64_t>(values.begin(), values.end()); };
    current_.sizes = list(arguments_[1].values);
    current_.to = {arguments_[0].dtype, list(arguments_[0].strides)};
    current_.from = {arguments_[1].dtype, list(arguments_[1].strides)};
  }

  void finish_current() {
    if (current_.op == kNoEvent) return;
    if (!current_.copies() && computes_nothing(recording_.name(current_.op))) return;
    if (previous_.op != kNoEvent && is_undone(previous_, current_)) {
      undone_.insert(undone_.end(), {previous_.op, current_.op});
      current_ = {};  // a third copy may be needed
    }
    previous_ = current_.copies() ? std::exchange(current_, {}) : CopyingOp();
    current_ = {};
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  std::vector<EventIndex> outermost_;  // of each node: the outermost op around it, or itself
  std::unordered_map<EventIndex, CopyingOp> transfers_;
  std::vector<Argument> arguments_;
  CopyingOp previous_, current_;
  std::vector<EventIndex> undone_;
};

}  // namespace

std::optional<Finding> unneeded_copies(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  std::vector<EventIndex> ops = UndoneCopies(judge.analysis).find();
  std::erase_if(ops, [&](EventIndex op) { return !judge.ledger.is_judged(recording.events.start_ns[op]); });
  std::int64_t time = 0;
  for (const EventIndex op : ops) time += std::max(recording.events.duration_ns[op], judge.analysis.launches().total_ns(op));
  const auto is_copy = [](const Cell& cell) {
    return cell.is_on_device() ? cell.device == DevicePhase::kCopy : cell.cause == Cause::kCopy;
  };
  const auto is_possible = [&](const Cell& cell) {
    return is_copy(cell) || (cell.is_on_device() ? cell.device == DevicePhase::kCompute : is_op_cause(cell.cause));
  };
  const Claim copies = judge.free(is_copy, time);
  const Claim claim = copies.ns >= time ? copies : judge.free(is_possible, time);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("unneeded_copies", "Copies are undone by the next op", claim);
  found.evidence = {
      fmt::format("{:.1f} copies per step take {}: each changes the device, the type or the layout of a tensor, or brings it back",
                  static_cast<double>(ops.size()) / static_cast<double>(judge.ledger.steps()), time_text(judge.ledger.per_step(time)))};
  found.remedy =
      "Nothing is computed between such copies: drop both. If other code needs the tensor in another form, convert it once and keep the "
      "result.";
  found.ops.clear();
  for (const EventIndex op : ops) {
    const std::string name(recording.name(op));
    if (found.ops.size() < 3 && std::ranges::find(found.ops, name) == found.ops.end()) found.ops.push_back(name);
  }
  if (const auto lines = lines_of(judge.analysis, ops, 3); !lines.empty()) found.lines = lines;
  return found;
}

}  // namespace mindtorch::analyze
