// One packet sequence: each text is defined once, before it is used.
#include "mindtorch/export/perfetto/sequence.h"

#include <gmock/gmock.h>

#include <protozero/pbf_reader.hpp>

#include "mindtorch/base/file.h"
#include "mindtorch/export/perfetto/fields.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter::perfetto {
namespace {

struct Packet {
  std::uint64_t timestamp = 0;
  std::uint32_t flags = 0;
  bool defines = false;
};

std::vector<Packet> packets(const std::string& bytes) {
  std::vector<Packet> all;
  protozero::pbf_reader file(bytes);
  while (file.next(trace_file::kPacket)) {
    protozero::pbf_reader fields = file.get_message();
    Packet packet;
    while (fields.next()) {
      switch (fields.tag()) {
        case trace_packet::kTimestamp: packet.timestamp = fields.get_uint64(); break;
        case trace_packet::kSequenceFlags: packet.flags = fields.get_uint32(); break;
        case trace_packet::kInternedData: packet.defines = true; [[fallthrough]];
        default: fields.skip();
      }
    }
    all.push_back(packet);
  }
  return all;
}

TEST(Sequence, TextsAreDefinedOnceAndTimesAreDifferences) {
  const tests::TemporaryFolder folder;
  Output out(folder / "t");
  Sequence sequence(out, 7, 99, 1000);
  for (const std::int64_t time : {5, 5, 1000005}) {
    sequence.begin_event(track_event::kSliceBegin);
    sequence.set_name(1, "name");
    sequence.set_category(1, "category");
    sequence.annotate(1, "key", std::string_view("text"));
    sequence.end_event(time);
  }
  out.commit();
  const std::vector<Packet> all = packets(read_file(folder / "t"));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].flags, 3U);
  EXPECT_TRUE(all[1].defines);
  EXPECT_FALSE(all[2].defines);
  EXPECT_EQ(all[1].timestamp, 5U);
  EXPECT_EQ(all[2].timestamp, 0U);
  EXPECT_EQ(all[3].timestamp, 1000000U);
}

}  // namespace
}  // namespace mindtorch::exporter::perfetto
