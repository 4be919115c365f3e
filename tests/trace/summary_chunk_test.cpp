// The summary of a recording file comes back whole.
#include "mindtorch/trace/summary_chunk.h"

#include <gtest/gtest.h>

#include "tests/support/random_recording.h"

namespace mindtorch::trace {
namespace {

TEST(SummaryChunk, ComesBackWhole) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Recording recording = random_recording(seed, 5);
    ByteWriter out;
    encode_summary(recording, out);
    ByteReader in(out.bytes());
    Recording read;
    decode_summary(in, read);
    EXPECT_EQ(in.left(), 0u);
    EXPECT_EQ(read.options, recording.options);
    EXPECT_EQ(read.clock, recording.clock);
    EXPECT_EQ(read.trace_id, recording.trace_id);
    EXPECT_EQ(read.metadata, recording.metadata);
    EXPECT_EQ(read.losses, recording.losses);
    EXPECT_EQ(read.memory_baselines, recording.memory_baselines);
    EXPECT_EQ(read.devices, recording.devices);
    EXPECT_EQ(read.first_id, recording.first_id);
  }
}

TEST(SummaryChunk, OfAnOlderFormatHasIdsFromOneOn) {
  Recording recording;
  recording.first_id = 500;
  ByteWriter out;
  encode_summary(recording, out);
  for (const std::uint8_t minor : {2, 3}) {
    ByteReader in(out.bytes());
    Recording read;
    decode_summary(in, read, minor);
    EXPECT_EQ(read.first_id, minor == 2 ? 1U : 500U);
  }
}

TEST(SummaryChunk, OfAnOlderFormatHasNoSampler) {
  Recording recording;
  recording.options.sampling_interval_ns = 1'000'000;
  ByteWriter out;
  encode_summary(recording, out);
  for (const std::uint8_t minor : {4, 5}) {
    ByteReader in(out.bytes());
    Recording read;
    decode_summary(in, read, minor);
    EXPECT_EQ(read.options.sampling_interval_ns, minor == 4 ? 0 : 1'000'000);
  }
}

TEST(SummaryChunk, OfTheFirstFormatHasNoDevices) {
  Recording recording;
  recording.devices = {{{DeviceType::kNpu, 0}, "npu", {{"cores", 4}}}};
  ByteWriter out;
  encode_summary(recording, out);
  ByteReader in(out.bytes());
  Recording read;
  decode_summary(in, read, 0);
  EXPECT_TRUE(read.devices.empty());
  EXPECT_GT(in.left(), 0u) << "the devices come last";
}

}  // namespace
}  // namespace mindtorch::trace
