// RecordingReader on files of other writers: newer ones, and hostile ones whose checksums are right.
#include "mindtorch/trace/recording_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "mindtorch/base/file.h"
#include "mindtorch/trace/file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/random_recording.h"
#include "tests/support/temporary_folder.h"
#include "tests/trace/memory_file.h"

namespace mindtorch::trace {
namespace {

using Chunks = std::vector<std::pair<ChunkType, std::string>>;

Chunks chunks_of(const std::string& bytes) {
  Chunks chunks;
  ChunkReader reader(bytes, "test");
  while (const std::optional<Chunk> chunk = reader.next())
    chunks.emplace_back(chunk->type, std::string(chunk->payload.begin(), chunk->payload.end()));
  return chunks;
}

std::string file_of(const Chunks& chunks, std::uint8_t minor = kFormatMinor) {
  const MemoryFile file;
  ChunkWriter writer(file.fd(), "f", 1);
  for (const auto& [type, payload] : chunks) writer.write(type, payload);
  std::string bytes = file.bytes();
  bytes[9] = static_cast<char>(minor);
  return bytes;
}

Chunks saved(const Recording& recording) {
  const tests::TemporaryFolder folder;
  save(recording, folder / "r");
  return chunks_of(read_file(folder / "r"));
}

TEST(RecordingReader, OfANewerMinorVersionWhatIsUnknownIsSkipped) {
  const Recording recording = random_recording(31, 100);
  Chunks chunks = saved(recording);
  for (auto& [type, payload] : chunks) payload += "a field of the future";
  chunks.insert(chunks.begin() + 2, {make_chunk_type("NEW "), "whatever"});
  const LoadResult newer = RecordingReader(file_of(chunks, kFormatMinor + 1), "test").read();
  EXPECT_FALSE(newer.damage.has_value()) << *newer.damage;
  EXPECT_EQ(newer.recording, recording);
}

TEST(RecordingReader, InTheFirstFormatTheNumberOfAStepIsInItsName) {
  RecordingBuilder builder;
  const TrackId thread = builder.add_thread(1);
  for (const char* name : {"ProfilerStep#7", "epoch"}) builder.add_event({.name = name, .kind = EventKind::kStep, .track = thread});
  Chunks chunks = saved(builder.finish());
  for (auto& [type, payload] : chunks)
    if (type == kSummaryChunk) payload.resize(payload.size() - 3);  // the number of devices, the first id, the interval of a sampler
  const LoadResult old = RecordingReader(file_of(chunks, 0), "test").read();
  EXPECT_FALSE(old.damage.has_value()) << *old.damage;
  EXPECT_EQ(step_of(old.recording.events.link[0]), 7);
  EXPECT_EQ(step_of(old.recording.events.link[1]), -1);
  EXPECT_EQ(RecordingReader(file_of(saved(old.recording)), "test").read().recording, old.recording);
}

TEST(RecordingReader, InOurOwnVersionWhatIsUnknownIsDamage) {
  Chunks chunks = saved(random_recording(31, 10));
  chunks.insert(chunks.begin() + 2, {make_chunk_type("NEW "), "whatever"});
  EXPECT_TRUE(RecordingReader(file_of(chunks), "test").read().damage.has_value());
  chunks = saved(random_recording(31, 10));
  chunks[1].second += "left over";
  EXPECT_TRUE(RecordingReader(file_of(chunks), "test").read().damage.has_value());
}

TEST(RecordingReader, HostileChunksNeverBreakTheInvariants) {
  const Chunks good = saved(random_recording(32, 25));
  std::mt19937 random(8);
  for (int i = 0; i < 3000; ++i) {
    Chunks chunks = good;
    for (int k = 0; k < 3; ++k) {
      std::string& payload = chunks[random() % chunks.size()].second;
      if (!payload.empty()) payload[random() % payload.size()] = static_cast<char>(random());
    }
    if (i % 4 == 0) std::swap(chunks[random() % chunks.size()], chunks[random() % chunks.size()]);
    if (i % 5 == 0) chunks.push_back(chunks[random() % chunks.size()]);
    const LoadResult loaded = RecordingReader(file_of(chunks), "test").read();
    ASSERT_EQ(check_invariants(loaded.recording), "") << i;
  }
}

TEST(RecordingReader, HostileTicksNeverOverflow) {
  const std::vector<std::int64_t> extremes = {INT64_MIN, -1, 0, 1, INT64_MAX};
  for (const double rate : {1e-6, 0.3, 0x1p40}) {
    for (const std::uint64_t tick0 : {std::uint64_t{0}, UINT64_MAX}) {
      Chunks chunks;
      const auto add = [&](ChunkType type, auto&& write) {
        ByteWriter out;
        write(out);
        chunks.emplace_back(type, std::string(out.bytes().begin(), out.bytes().end()));
      };
      add(kTrackChunk, [](ByteWriter& out) { encode_track(0, {}, out); });
      add(kClockChunk, [&](ByteWriter& out) { encode_clock({tick0, -kFarthestNs, rate, INT64_MAX}, out); });
      Recording rows;
      for (const std::int64_t start : extremes) {
        for (const std::int64_t duration : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{INT64_MAX}})
          rows.events.push_back({.start_ns = start, .duration_ns = duration});
      }
      const std::size_t n = rows.events.size();
      Piece piece = make_piece(rows, 0, 0, 0, n);
      piece.unit = TimeUnit::kTicks;
      add(kEventsChunk, [&](ByteWriter& out) { PieceCodec().encode(piece, {1, 0}, out); });
      rows.samples.push_back({.time_ns = INT64_MAX - 1, .duration_ns = 1});
      rows.samples.push_back({.time_ns = INT64_MIN, .duration_ns = INT64_MAX});
      rows.stacks.offsets = {0, 0};
      add(kStacksChunk, [&](ByteWriter& out) { encode_stacks(rows.stacks, 0, 1, out); });
      add(kSamplesChunk, [&](ByteWriter& out) {
        encode_unit(TimeUnit::kTicks, out);
        PieceCodec().encode_samples(rows.samples, 0, 2, out);
      });
      add(kPatchesChunk, [&](ByteWriter& out) { encode_patches(std::vector<PatchedEnd>{{0, 3, UINT64_MAX, 0}, {0, 6, 0, 0}}, out); });
      const Recording r = RecordingReader(file_of(chunks), "test").read().recording;
      EXPECT_EQ(r.events.size(), n);
      EXPECT_EQ(r.samples.size(), 2u);
      EXPECT_EQ(check_invariants(r), "");
    }
  }
}

TEST(RecordingReader, MissingEventsAreCountedIfTheFileSaysHowManyThereWere) {
  Chunks chunks = saved(random_recording(33, 100));
  std::erase_if(chunks, [](const auto& chunk) { return chunk.first == kEventsChunk || chunk.first == kEndChunk; });
  const Recording r = RecordingReader(file_of(chunks), "test").read().recording;
  EXPECT_EQ(r.losses.back().count, 100u);
}

}  // namespace
}  // namespace mindtorch::trace
