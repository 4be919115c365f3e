// A small reader of Perfetto traces. It knows the numbers of the fields from the format's documentation, not from the writer.
#include "tests/fuzz/pftrace_reader.h"

#include <cstring>
#include <stdexcept>

namespace mindtorch::fuzz {
namespace {

// One field of a protobuf message.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // varint, fixed32 or fixed64
  std::string_view bytes;   // length-delimited
};

[[noreturn]] void refuse(const char* why) { throw std::runtime_error(why); }

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    field = {static_cast<std::uint32_t>(tag >> 3), 0, {}};
    if (field.number == 0) refuse("a field has the number 0");
    switch (tag & 7) {
      case 0: field.value = varint(); break;
      case 1: field.value = fixed<std::uint64_t>(); break;
      case 2: field.bytes = take(varint()); break;
      case 5: field.value = fixed<std::uint32_t>(); break;
      default: refuse("a field has an unknown wire type");
    }
    return true;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) refuse("a field ends early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number is too long");
  }

  std::string_view rest_;
};

// The number of the first field with this number, if there is one.
std::optional<Field> find(std::string_view message, std::uint32_t number) {
  Message fields(message);
  Field field;
  while (fields.next(field)) {
    if (field.number == number) return field;
  }
  return std::nullopt;
}

class Reader {
 public:
  PftraceSummary read(std::string_view bytes) {
    Message file(bytes);
    Field packet;
    while (file.next(packet)) {
      constexpr std::uint32_t kPacket = 1;
      if (packet.number != kPacket) continue;
      ++summary_.packets;
      read_packet(packet.bytes);
    }
    for (const auto& [track, depth] : open_) {
      if (depth != 0) refuse("a slice has no end");
    }
    return std::move(summary_);
  }

 private:
  void read_packet(std::string_view packet) {
    constexpr std::uint32_t kSequence = 10, kEvent = 11, kDefaults = 59, kDescriptor = 60;
    const auto sequence = find(packet, kSequence);
    if (const auto descriptor = find(packet, kDescriptor)) {
      const auto uuid = find(descriptor->bytes, 1), name = find(descriptor->bytes, 2);
      if (!uuid) refuse("a track has no uuid");
      summary_.tracks[uuid->value] = name ? std::string(name->bytes) : "";
    }
    if (const auto defaults = find(packet, kDefaults); defaults && sequence) {
      constexpr std::uint32_t kEventDefaults = 11, kTrackUuid = 11;
      if (const auto event = find(defaults->bytes, kEventDefaults)) {
        if (const auto uuid = find(event->bytes, kTrackUuid)) track_of_sequence_[sequence->value] = uuid->value;
      }
    }
    if (const auto event = find(packet, kEvent)) read_event(event->bytes, sequence ? sequence->value : 0);
  }

  void read_event(std::string_view event, std::uint64_t sequence) {
    constexpr std::uint32_t kType = 9, kTrackUuid = 11;
    constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3;
    const auto type = find(event, kType), uuid = find(event, kTrackUuid);
    if (!type) refuse("an event has no type");
    const std::uint64_t track = uuid ? uuid->value : track_of_sequence_[sequence];
    if (!summary_.tracks.contains(track)) refuse("an event lies on a track that is not described");
    if (type->value == kBegin) ++open_[track];
    if (type->value == kEnd) {
      if (open_[track] == 0) refuse("an end has no begin");
      --open_[track];
      ++summary_.slices;
    }
    if (type->value == kInstant) ++summary_.instants;
  }

  PftraceSummary summary_;
  std::map<std::uint64_t, std::uint64_t> track_of_sequence_;
  std::map<std::uint64_t, std::uint64_t> open_;  // track -> slices that have begun
};

}  // namespace

std::optional<PftraceSummary> read_pftrace(std::string_view bytes, std::string& why) {
  try {
    return Reader().read(bytes);
  } catch (const std::runtime_error& error) {
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace mindtorch::fuzz
