// The small chunks of a recording file: malformed ones are refused and change nothing.
#include "mindtorch/trace/recording_chunks.h"

#include <gtest/gtest.h>

#include "mindtorch/trace/summary_chunk.h"
#include "tests/support/random_recording.h"

namespace mindtorch::trace {
namespace {

// Decodes every prefix of what `write` writes: all but the whole must be malformed and leave `into` as it was.
template <class Write, class Read>
void expect_all_or_nothing(Recording into, Write&& write, Read&& read) {
  ByteWriter out;
  write(out);
  const Recording before = into;
  for (std::size_t n = 0; n < out.bytes().size(); ++n) {
    ByteReader in(out.bytes().first(n));
    ASSERT_THROW(read(in, into), Malformed) << n;
    ASSERT_EQ(into, before) << n;
  }
  ByteReader in(out.bytes());
  ASSERT_NO_THROW(read(in, into));
  ASSERT_EQ(in.left(), 0u);
}

template <class Write, class Read>
void expect_malformed(const Recording& into, Write&& write, Read&& read) {
  ByteWriter out;
  write(out);
  ByteReader in(out.bytes());
  Recording copy = into;
  EXPECT_THROW(read(in, copy), Malformed);
  EXPECT_EQ(copy, into);
}

TEST(RecordingChunks, AreReadWholeOrNotAtAll) {
  const Recording r = random_recording(21, 50);
  Recording names = {}, tracks = {}, stacks = {};
  stacks.names = names.names = r.names;
  const std::vector<std::string_view> all_names(r.names.begin() + 1, r.names.end());
  expect_all_or_nothing(
      {}, [&](ByteWriter& out) { encode_names(1, all_names, out); }, decode_names);
  expect_all_or_nothing(
      {}, [&](ByteWriter& out) { encode_track(0, r.tracks[0], out); }, decode_track);
  expect_all_or_nothing(
      names, [&](ByteWriter& out) { encode_frames(0, r.stacks.frames, out); }, decode_frames);
  stacks.stacks.frames = r.stacks.frames;
  expect_all_or_nothing(
      stacks, [&](ByteWriter& out) { encode_stacks(r.stacks, 0, r.stacks.size(), out); }, decode_stacks);
  expect_all_or_nothing(
      {}, [&](ByteWriter& out) { encode_tags(r.memory_tags, out); }, decode_tags);
  expect_all_or_nothing(
      {},
      [&](ByteWriter& out) {
        encode_steps(std::vector<StepMark>{{-5, 1}, {7, 300}}, out);
      },
      decode_steps);
  expect_all_or_nothing(
      {}, [&](ByteWriter& out) { encode_summary(r, out); }, [](ByteReader& in, Recording& into) { decode_summary(in, into); });
}

TEST(RecordingChunks, ClocksAndPatchesComeBack) {
  const ClockMapping clock{UINT64_MAX, -7, 0.1, INT64_MIN, "tsc", 9, 10};
  const std::vector<PatchedEnd> patches = {{1, UINT64_MAX, 5, kAsync}, {0, 0, UINT64_MAX, 0}};
  ByteWriter out;
  encode_clock(clock, out);
  encode_patches(patches, out);
  ByteReader in(out.bytes());
  EXPECT_EQ(decode_clock(in), clock);
  EXPECT_EQ(decode_patches(in), patches);
}

TEST(RecordingChunks, ThatReferToWhatIsNotThereAreMalformed) {
  Recording r;
  expect_malformed(
      r, [](ByteWriter& out) { encode_names(2, std::vector<std::string_view>{"gap"}, out); }, decode_names);
  expect_malformed(
      r, [](ByteWriter& out) { encode_names(0, std::vector<std::string_view>{""}, out); }, decode_names);
  expect_malformed(
      r, [](ByteWriter& out) { encode_track(1, {}, out); }, decode_track);
  expect_malformed(
      r,
      [](ByteWriter& out) {
        encode_frames(0, std::vector<Frame>{{1, 0, 0}}, out);
      },
      decode_frames);
  Stacks stacks;
  stacks.frame_ids = {0};
  stacks.offsets = {0, 1};
  expect_malformed(
      r, [&](ByteWriter& out) { encode_stacks(stacks, 0, 1, out); }, decode_stacks);
}

TEST(RecordingChunks, ThatHoldImpossibleValuesAreMalformed) {
  Recording r;
  const MemoryTag tag{0, 0, static_cast<MemoryCategory>(kMemoryCategories)};
  expect_malformed(
      r,
      [&](ByteWriter& out) {
        encode_tags({&tag, 1}, out);
      },
      decode_tags);
  expect_malformed(
      r, [](ByteWriter& out) { encode_track(0, {.kind = static_cast<Track::Kind>(2)}, out); }, decode_track);
  expect_malformed(
      r, [](ByteWriter& out) { encode_clock({.ns_per_tick = -1}, out); }, [](ByteReader& in, Recording&) { decode_clock(in); });
  Recording broken;
  broken.metadata["key"] = "not JSON";
  expect_malformed(
      r, [&](ByteWriter& out) { encode_summary(broken, out); }, [](ByteReader& in, Recording& into) { decode_summary(in, into); });
}

}  // namespace
}  // namespace mindtorch::trace
