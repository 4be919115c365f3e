// Side entries: what is read is what was written.
#include "mindtorch/record/side_entries.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace mindtorch::record {
namespace {

TEST(SideEntries, HeadersKeepKindLengthAndSlot) {
  for (const SideHeader& header : {SideHeader{SideKind::kInputs, 0, 0}, SideHeader{SideKind::kSameStack, (1u << 24) - 1, ~std::uint32_t{0}},
                                   SideHeader{SideKind::kMemory, 6, 2047}}) {
    const SideHeader read = unpack_side_header(pack_side_header(header));
    EXPECT_EQ(read.kind, header.kind);
    EXPECT_EQ(read.words, header.words);
    EXPECT_EQ(read.slot_index, header.slot_index);
  }
}

template <class Entry>
Entry written_and_read(const Entry& entry) {
  std::array<std::int64_t, Entry::kWords> words{};
  entry.pack(words.data());
  return Entry::unpack(words);
}

TEST(SideEntries, AnAttributeKeepsKeyTypeAndValue) {
  const AttributeEntry read = written_and_read(AttributeEntry{~NameId{0}, trace::Attribute::Type::kJson, -5});
  EXPECT_EQ(read.key, ~NameId{0});
  EXPECT_EQ(read.type, trace::Attribute::Type::kJson);
  EXPECT_EQ(read.bits, -5);
}

TEST(SideEntries, AMemoryReportKeepsItsNumbersAndItsDevice) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const MemoryEntry read = written_and_read(MemoryEntry{kMost, kMost - 1, -8, {DeviceType::kCuda, 255}, 9, -10});
  EXPECT_EQ(read.ticks, kMost);
  EXPECT_EQ(read.address, kMost - 1);
  EXPECT_EQ(read.bytes, -8);
  EXPECT_EQ(read.device, (Device{DeviceType::kCuda, 255}));
  EXPECT_EQ(read.total_allocated, 9);
  EXPECT_EQ(read.total_reserved, -10);
}

TEST(SideEntries, AMemoryTagKeepsItsCategory) {
  const MemoryTagEntry read = written_and_read(MemoryTagEntry{3, 4, trace::MemoryCategory::kInput});
  EXPECT_EQ(read.ticks, 3u);
  EXPECT_EQ(read.address, 4u);
  EXPECT_EQ(read.category, trace::MemoryCategory::kInput);
}

}  // namespace
}  // namespace mindtorch::record
