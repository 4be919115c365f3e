// Collectives with what torch tells about them: as attributes of the kernel, or of the call record_param_comms that launched it.
#include "mindtorch/analyze/ranks/collectives.h"

#include <algorithm>
#include <array>
#include <optional>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/analyze/tensor_memory.h"

namespace mindtorch::analyze {
namespace {

using trace::Attribute;
using trace::EventKind;

// torch's names of types in the parameters of a collective: "Float", "BFloat16", "Long".
std::int64_t type_bytes(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 9> kBytes = {{{"Float", 4},
                                                                                       {"Double", 8},
                                                                                       {"Half", 2},
                                                                                       {"BFloat16", 2},
                                                                                       {"Long", 8},
                                                                                       {"Int", 4},
                                                                                       {"Short", 2},
                                                                                       {"ComplexFloat", 8},
                                                                                       {"ComplexDouble", 16}}};
  const auto* const found = std::ranges::find(kBytes, name, &std::pair<std::string_view, std::int64_t>::first);
  return found == kBytes.end() ? 1 : found->second;
}

// The bytes of all tensors among the arguments of a call; -1 if its arguments were not recorded.
std::int64_t tensor_bytes(const trace::Recording& recording, EventIndex event) {
  const auto words = recording.inputs.find(event);
  if (words.empty()) return -1;
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  std::int64_t bytes = -1;
  for (const Argument& argument : arguments) {
    if (argument.kind != trace::Input::Kind::kTensor) continue;
    std::int64_t size = std::max<std::int64_t>(1, element_bytes(argument.dtype));  // types that are not known count one byte
    for (const std::int64_t extent : argument.values) size *= extent;
    bytes = std::max<std::int64_t>(0, bytes) + size;
  }
  return bytes;
}

constexpr std::array<std::string_view, 9> kParameterKeys = {
    "Collective name", "Process Group Name", "Group size", "Seq", "In msg nelems", "Out msg nelems", "dtype", "Src Rank", "Dst Rank"};

// The parameters that torch announces before a collective.
class Parameters {
 public:
  explicit Parameters(const trace::Recording& recording) : recording_(recording) {
    for (NameId id = 0; id < recording.names.size(); ++id) {
      for (std::size_t k = 0; k < kParameterKeys.size(); ++k) {
        if (recording.names[id] == kParameterKeys[k]) ids_[k] = id;
      }
    }
  }

  bool known_for(EventIndex event) const { return find(event, kName) != nullptr; }

  void read(EventIndex event, FoundCollective& into) const {
    const std::string_view name = text(event, kName);
    if (const CollectiveKind kind = collective_kind(name); kind != CollectiveKind::kOther) into.kind = kind;
    into.group = text(event, kGroup);
    into.group_size = static_cast<std::int32_t>(number(event, kGroupSize));
    into.sequence = number(event, kSequence);
    const std::int64_t elements = std::max(number(event, kIn), number(event, kOut));
    if (elements >= 0) into.bytes = elements * type_bytes(text(event, kType));
    if (is_between_two(into.kind)) into.peer = number(event, into.kind == CollectiveKind::kSend ? kDestination : kSource);
  }

 private:
  enum Key : std::uint8_t { kName, kGroup, kGroupSize, kSequence, kIn, kOut, kType, kSource, kDestination };

  const Attribute* find(EventIndex event, Key key) const {
    const std::optional<trace::NameId>& id = ids_[key];
    if (!id) return nullptr;
    for (const Attribute& attribute : recording_.attributes.find(event)) {
      if (attribute.key == *id) return &attribute;
    }
    return nullptr;
  }
  std::string_view text(EventIndex event, Key key) const {
    const Attribute* attribute = find(event, key);
    if (attribute == nullptr || !trace::has_text(*attribute)) return "";
    return recording_.names[static_cast<NameId>(attribute->bits)];
  }
  std::int64_t number(EventIndex event, Key key) const {
    const Attribute* attribute = find(event, key);
    return attribute != nullptr && attribute->type == Attribute::Type::kInt ? attribute->bits : -1;
  }

  const trace::Recording& recording_;
  std::array<std::optional<NameId>, kParameterKeys.size()> ids_;
};

// The call around the launch of a kernel that has the parameters; kNoEvent if there is none.
EventIndex announcing_call(const Analysis& analysis, const Parameters& parameters, EventIndex kernel) {
  EventIndex call = analysis.launches().host_of(kernel);
  for (int levels = 0; call != kNoEvent && levels < 8; ++levels, call = analysis.tree().parent(call)) {
    if (parameters.known_for(call)) return call;
  }
  return kNoEvent;
}

enum class CollectivePlace : std::uint8_t { kUnknown, kNowhere, kHost, kDevice };

CollectivePlace place_of(EventKind kind, std::string_view name) {
  if (kind == EventKind::kCollective || (kind == EventKind::kKernel && is_collective_name(name))) return CollectivePlace::kDevice;
  const bool is_call = kind == EventKind::kScope || kind == EventKind::kOp;
  return is_call && is_host_collective(name) ? CollectivePlace::kHost : CollectivePlace::kNowhere;
}

}  // namespace

std::span<const std::string_view> collective_attributes() { return kParameterKeys; }

bool is_host_collective(std::string_view name) {
  return (name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:")) &&
         collective_kind(name) != CollectiveKind::kOther;
}

std::vector<FoundCollective> find_collectives(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  const Parameters parameters(recording);
  // Names are looked at once for each kind of event that has them.
  std::array<std::vector<CollectivePlace>, trace::kEventKinds> places;
  std::vector<FoundCollective> host, device;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    const bool is_possible =
        kind == EventKind::kCollective || kind == EventKind::kKernel || kind == EventKind::kScope || kind == EventKind::kOp;
    if (!is_possible) continue;
    std::vector<CollectivePlace>& known = places[static_cast<std::size_t>(kind)];
    if (known.empty()) known.resize(recording.names.size(), CollectivePlace::kUnknown);
    CollectivePlace& place = known[recording.events.name[i]];
    if (place == CollectivePlace::kUnknown) place = place_of(kind, recording.name(i));
    if (place == CollectivePlace::kNowhere) continue;
    FoundCollective found{.event = i, .kind = collective_kind(recording.name(i)), .start_ns = recording.events.start_ns[i]};
    found.end_ns = recording.events.end_ns(i);
    found.is_finished = (recording.events.flags[i] & trace::kUnfinished) == 0;
    const EventIndex call = parameters.known_for(i)             ? i
                            : place == CollectivePlace::kDevice ? announcing_call(analysis, parameters, i)
                                                                : kNoEvent;
    if (call != kNoEvent) parameters.read(call, found);
    if (found.bytes < 0 && place == CollectivePlace::kHost) found.bytes = tensor_bytes(recording, i);
    found.name = found.kind == CollectiveKind::kOther ? std::string(recording.name(i)) : std::string(collective_kind_name(found.kind));
    (place == CollectivePlace::kDevice ? device : host).push_back(std::move(found));
  }
  std::vector<FoundCollective>& chosen = device.empty() ? host : device;
  std::ranges::stable_sort(chosen, {}, &FoundCollective::start_ns);
  return std::move(chosen);
}

}  // namespace mindtorch::analyze
