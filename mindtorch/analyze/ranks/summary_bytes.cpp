// A mark, a checksum, and the fields of each summary in order. Reading and writing visit the same list of fields.
#include "mindtorch/analyze/ranks/summary_bytes.h"

#include <xxhash.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/bytes.h"

namespace mindtorch::analyze {
namespace {

constexpr std::string_view kMark = "MTSUM\x02\r\n";
constexpr std::size_t kHeaderBytes = 16;  // the mark and the checksum of the rest

// SummaryWriter and SummaryReader have the same calls, so that one function for each type visits its fields in both directions.
class SummaryWriter {
 public:
  template <class T>
  void field(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
      bytes_.u8(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_same_v<T, float>) {
      bytes_.number(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      bytes_.signed_number(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      bytes_.text(value);
    } else {
      visit(*this, value);
    }
  }
  template <class List>
  void list(const List& values) {
    bytes_.number(values.size());
    for (const auto& value : values) field(value);
  }
  std::span<const char> bytes() const { return bytes_.bytes(); }

 private:
  trace::ByteWriter bytes_;
};

class SummaryReader {
 public:
  explicit SummaryReader(std::string_view bytes) : bytes_({bytes.data(), bytes.size()}) {}
  template <class T>
  void field(T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
      value = static_cast<T>(bytes_.u8());
    } else if constexpr (std::is_same_v<T, float>) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(bytes_.number()));
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(bytes_.signed_number());
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = bytes_.text();
    } else {
      visit(*this, value);
    }
  }
  template <class T>
  void list(std::vector<T>& values) {
    values.clear();
    for (std::size_t left = bytes_.count(); left > 0; --left) field(values.emplace_back());
  }
  bool is_at_end() const { return bytes_.left() == 0; }

 private:
  trace::ByteReader bytes_;
};

template <class T, class U>
concept Same = std::is_same_v<std::remove_const_t<T>, U>;

template <class Archive, Same<trace::Device> T>
void visit(Archive& archive, T& device) {
  archive.field(device.type);
  archive.field(device.index);
}

template <class Archive, Same<trace::RankGroup> T>
void visit(Archive& archive, T& group) {
  archive.field(group.name);
  archive.list(group.ranks);
}

template <class Archive, Same<trace::RankIdentity> T>
void visit(Archive& archive, T& identity) {
  archive.field(identity.rank);
  archive.field(identity.local_rank);
  archive.field(identity.world_size);
  archive.field(identity.host);
  archive.field(identity.backend);
  archive.list(identity.groups);
}

template <class Archive, Same<RankStep> T>
void visit(Archive& archive, T& step) {
  archive.field(step.number);
  archive.field(step.start_ns);
  archive.field(step.duration_ns);
  for (auto& use : step.use) archive.field(use);
  archive.field(step.hidden_ns);
}

template <class Archive, Same<RankCollective> T>
void visit(Archive& archive, T& collective) {
  archive.field(collective.name);
  archive.field(collective.group);
  archive.field(collective.kind);
  archive.field(collective.group_size);
  archive.field(collective.step);
  archive.field(collective.sequence);
  archive.field(collective.bytes);
  archive.field(collective.peer);
  archive.field(collective.tag);
  archive.field(collective.start_ns);
  archive.field(collective.end_ns);
  archive.field(collective.is_finished);
}

template <class Archive, Same<RankWork> T>
void visit(Archive& archive, T& work) {
  archive.field(work.name);
  archive.field(work.kind);
  archive.list(work.seconds);
}

template <class Archive, Same<RankDevice> T>
void visit(Archive& archive, T& device) {
  archive.field(device.device);
  archive.field(device.span_ns);
  archive.field(device.compute_ns);
  archive.field(device.communication_ns);
  archive.field(device.overlap_ns);
  archive.field(device.idle_ns);
}

template <class Archive, Same<RankMemory> T>
void visit(Archive& archive, T& memory) {
  archive.field(memory.device);
  archive.field(memory.peak_bytes);
}

template <class Archive, Same<RankSummary> T>
void visit(Archive& archive, T& summary) {
  archive.field(summary.identity);
  archive.field(summary.file);
  archive.field(summary.damage);
  archive.field(summary.events);
  archive.field(summary.lost_events);
  archive.field(summary.start_ns);
  archive.field(summary.end_ns);
  archive.field(summary.has_device_work);
  archive.field(summary.has_step_marks);
  archive.list(summary.names);
  archive.list(summary.steps);
  archive.list(summary.collectives);
  archive.list(summary.work);
  archive.list(summary.devices);
  archive.list(summary.memory);
  archive.field(summary.steps_left_out);
  archive.field(summary.collectives_left_out);
}

// What the comparison of ranks relies on, whoever wrote the bytes.
bool is_consistent(const RankSummary& summary) {
  for (const RankCollective& collective : summary.collectives) {
    if (collective.name >= summary.names.size() || collective.group >= summary.names.size()) return false;
  }
  for (const RankWork& work : summary.work) {
    if (work.seconds.size() != summary.steps.size()) return false;
  }
  return !summary.names.empty();
}

[[noreturn]] void throw_damaged(std::string_view what) {
  throw_error<InvalidArgument>("analyze.summaries_from_bytes", "these are not summaries of ranks that this version can read: {}", what);
}

}  // namespace

std::string summary_bytes(std::span<const RankSummary> summaries) {
  SummaryWriter writer;
  writer.list(summaries);
  const std::span<const char> body = writer.bytes();
  const std::uint64_t checksum = XXH3_64bits(body.data(), body.size());
  std::string bytes(kMark);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return bytes.append(body.data(), body.size());
}

std::vector<RankSummary> summaries_from_bytes(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMark)) throw_damaged("the beginning is another one");
  const std::string_view body = bytes.substr(kHeaderBytes);
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + kMark.size(), sizeof checksum);
  if (checksum != XXH3_64bits(body.data(), body.size())) throw_damaged("the checksum is wrong");
  std::vector<RankSummary> summaries;
  try {
    SummaryReader reader(body);
    reader.list(summaries);
    if (!reader.is_at_end()) throw_damaged("there is something after the last summary");
  } catch (const trace::Malformed& error) {
    throw_damaged(error.what());
  }
  for (const RankSummary& summary : summaries) {
    if (!is_consistent(summary)) throw_damaged("its lists do not fit together");
  }
  return summaries;
}

}  // namespace mindtorch::analyze
