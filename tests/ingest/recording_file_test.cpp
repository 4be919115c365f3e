// save() and load_recording(): exact round trip; whatever is cut off or corrupted, the rest is sound and the damage is told.
#include "mindtorch/ingest/recording_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/random_recording.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace)

std::string bytes_of(const Recording& recording, int zstd_level = 1) {
  const tests::TemporaryFolder folder;
  save(recording, folder / "r.mtrec", zstd_level);
  return read_file(folder / "r.mtrec");
}

void expect_equal(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.tracks, b.tracks);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.attributes, b.attributes);
  EXPECT_EQ(a.stacks, b.stacks);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_TRUE(a == b);
}

// What a damaged file must give: a sound recording whose events are all in the original, the place of the damage, a loss.
void expect_prefix(const LoadResult& loaded, const Recording& original, std::size_t file_size) {
  const Recording& r = loaded.recording;
  ASSERT_TRUE(loaded.damage.has_value());
  EXPECT_LE(loaded.damage_offset, file_size);
  EXPECT_NE(loaded.damage->find(std::to_string(loaded.damage_offset)), std::string::npos) << *loaded.damage;
  ASSERT_EQ(check_invariants(r), "") << *loaded.damage;
  ASSERT_FALSE(r.losses.empty());
  EXPECT_EQ(r.losses.back().reason, LossReason::kDamagedFile);
  EXPECT_GT(r.losses.back().count, 0u);
  ASSERT_LE(r.tracks.size(), original.tracks.size());
  for (std::size_t t = 0; t < r.tracks.size(); ++t) {
    const Track &got = r.tracks[t], &whole = original.tracks[t];
    ASSERT_LE(got.event_count, whole.event_count);
    for (EventIndex i = 0; i < got.event_count; ++i) {
      const EventIndex a = got.first_event + i, b = whole.first_event + i;
      ASSERT_EQ(r.events.start_ns[a], original.events.start_ns[b]);
      ASSERT_EQ(r.events.duration_ns[a], original.events.duration_ns[b]);
      ASSERT_EQ(r.name(a), original.name(b));
      ASSERT_TRUE(std::ranges::equal(r.inputs.find(a), original.inputs.find(b)));
      ASSERT_TRUE(std::ranges::equal(r.attributes.find(a), original.attributes.find(b)));
    }
  }
}

TEST(File, RandomRecordingsComeBackExactly) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Recording recording = random_recording(seed, seed < 50 ? seed * 3 : 5000);
    const LoadResult loaded = load_recording_bytes(bytes_of(recording), "test");
    EXPECT_FALSE(loaded.damage.has_value()) << *loaded.damage;
    expect_equal(loaded.recording, recording);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(File, AnEmptyRecordingComesBackExactly) {
  const LoadResult loaded = load_recording_bytes(bytes_of(Recording{}), "test");
  EXPECT_FALSE(loaded.damage.has_value());
  EXPECT_EQ(loaded.recording, Recording{});
}

TEST(File, MoreEventsThanFitOneChunkComeBackExactly) {
  RecordingBuilder builder;
  const TrackId a = builder.add_thread(1), b = builder.add_thread(2);
  for (int i = 0; i < 200'000; ++i) {
    const auto event = builder.add_event({.name = "op", .track = i % 3 ? a : b, .start_ns = i * 10, .duration_ns = i % 7});
    if (i % 5 == 0) builder.add_attribute(event, "i", std::int64_t{i});
    builder.add_memory(i * 10, a, {}, 1, i, i, i);
  }
  const Recording recording = builder.finish();
  EXPECT_EQ(load_recording_bytes(bytes_of(recording), "test").recording, recording);
}

TEST(File, RowsTooLongForOneChunkAreSpreadOverSeveral) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(1);
  for (int i = 0; i < 5; ++i) {
    const std::vector<Input> inputs{{.kind = Input::Kind::kIntList, .sizes = std::vector<std::int64_t>(700'000, i)}};
    builder.set_inputs(builder.add_event({.name = "op", .track = track, .start_ns = i}), inputs);
  }
  const Recording recording = builder.finish();
  EXPECT_EQ(load_recording_bytes(bytes_of(recording), "test", {.max_memory = kUnlimitedMemory}).recording, recording);
}

TEST(File, NamesOfMegabytesAndOfAnyBytesComeBackExactly) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(1);
  std::mt19937 random(3);
  std::string noise(1 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  builder.add_event({.name = noise, .track = track});
  builder.add_event({.name = std::string(10 << 20, 'x'), .track = track});
  builder.add_event({.name = std::string_view("\0", 1), .track = track});
  const Recording recording = builder.finish();
  EXPECT_EQ(load_recording_bytes(bytes_of(recording), "test").recording, recording);
}

TEST(File, ExtremeValuesComeBackExactly) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(INT64_MIN, "", INT64_MAX);
  builder.add_event({.name = "first", .track = track, .start_ns = INT64_MIN, .duration_ns = INT64_MAX, .link = UINT64_MAX});
  builder.add_event({.name = "last", .track = track, .start_ns = INT64_MAX, .duration_ns = 0, .link = std::uint64_t{1} << 63});
  builder.add_event({.name = "middle", .track = track, .start_ns = 0, .duration_ns = INT64_MAX, .link = UINT64_MAX >> 1});
  builder.add_memory(INT64_MIN, track, {}, UINT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN);
  builder.add_memory(INT64_MAX, track, {}, 0, INT64_MAX, INT64_MIN, INT64_MAX);
  const Recording recording = builder.finish();
  EXPECT_EQ(load_recording_bytes(bytes_of(recording), "test").recording, recording);
}

TEST(File, EveryCompressionLevelGivesTheSameRecording) {
  const Recording recording = random_recording(1, 300);
  for (const int level : {-5, 3, 19}) EXPECT_EQ(load_recording_bytes(bytes_of(recording, level), "test").recording, recording);
}

TEST(File, CutOffAnywhereItGivesASoundPrefixAndSaysWhere) {
  const Recording recording = random_recording(11, 40);
  const std::string bytes = bytes_of(recording);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string_view cut = std::string_view(bytes).substr(0, size);
    if (size < 8) {
      EXPECT_THROW(load_recording_bytes(cut, "test"), InvalidArgument);
      continue;
    }
    expect_prefix(load_recording_bytes(cut, "test"), recording, size);
    if (HasFailure()) FAIL() << "cut at " << size << " of " << bytes.size();
  }
}

TEST(File, ALongFileCutOffKeepsAllTracksUpToSomeMoment) {
  RecordingBuilder builder;
  std::mt19937 random(5);
  for (int t = 0; t < 3; ++t) builder.add_thread(t);
  for (int i = 0; i < 600'000; ++i) {
    builder.add_event({.name = "op", .track = static_cast<TrackId>(i % 3), .start_ns = i * 1000 + static_cast<int>(random() % 1000)});
  }
  const Recording recording = builder.finish();
  const std::string bytes = bytes_of(recording);
  for (int i = 0; i < 20; ++i) {
    const std::size_t size = 1000 + random() % (bytes.size() - 1000);
    const LoadResult loaded = load_recording_bytes(std::string_view(bytes).substr(0, size), "test");
    expect_prefix(loaded, recording, size);
    EXPECT_EQ(loaded.recording.losses.back().count, recording.events.size() - loaded.recording.events.size());
  }
  const LoadResult half = load_recording_bytes(std::string_view(bytes).substr(0, bytes.size() * 6 / 10), "test");
  for (const Track& track : half.recording.tracks) EXPECT_GT(track.event_count, 60'000u);
}

TEST(File, NoCorruptByteGoesUnnoticed) {
  const Recording recording = random_recording(12, 30);
  const std::string bytes = bytes_of(recording);
  std::mt19937 random(9);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string corrupt = bytes;
    corrupt[at] = static_cast<char>(corrupt[at] ^ (1 + random() % 255));
    try {
      const LoadResult loaded = load_recording_bytes(corrupt, "test");
      if (loaded.damage) {
        expect_prefix(loaded, recording, corrupt.size());
      } else {
        EXPECT_TRUE(loaded.recording == recording);
      }
    } catch (const InvalidArgument&) {
      EXPECT_LT(at, 16u) << "only the header decides what a file is";
    }
    if (HasFailure()) FAIL() << "byte " << at << " of " << bytes.size();
  }
}

TEST(File, BytesBehindTheEndAreDamage) {
  const Recording recording = random_recording(13, 10);
  const std::string bytes = bytes_of(recording);
  EXPECT_EQ(load_recording_bytes(bytes + "x", "test").damage_offset, bytes.size());
  EXPECT_TRUE(load_recording_bytes(bytes + bytes.substr(16), "test").damage.has_value());
}

TEST(File, AChunkTakenOutIsNoticed) {
  const Recording recording = random_recording(14, 10);
  const std::string bytes = bytes_of(recording);
  const auto stored = static_cast<std::uint8_t>(bytes[32]) | static_cast<std::uint8_t>(bytes[33]) << 8;
  EXPECT_EQ(load_recording_bytes(bytes.substr(0, 16) + bytes.substr(16 + 20 + static_cast<std::size_t>(stored)), "test").damage_offset,
            16u);
}

TEST(File, OtherFilesAndNewerVersionsAreRefused) {
  EXPECT_THROW(load_recording_bytes("", "test"), InvalidArgument);
  EXPECT_THROW(load_recording_bytes("{\"traceEvents\": []}", "test"), InvalidArgument);
  std::string newer = bytes_of(Recording{});
  newer[8] = 2;
  newer[9] = 0;
  try {
    load_recording_bytes(newer, "some/path");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("some/path"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("2.0"), std::string::npos);
  }
}

TEST(File, IsRecognisedByItsFirstBytes) {
  const tests::TemporaryFolder folder;
  save(Recording{}, folder / "r.mtrec");
  EXPECT_TRUE(is_recording_file(folder / "r.mtrec"));
  EXPECT_FALSE(is_recording_file(folder / "missing"));
  EXPECT_FALSE(is_recording_file(folder.path().string()));
}

TEST(File, APathThatCannotBeWrittenIsAnIoErrorAndLeavesNothing) {
  const tests::TemporaryFolder folder;
  EXPECT_THROW(save(Recording{}, folder / "missing/r.mtrec"), IoError);
  EXPECT_THROW(save(Recording{}, folder.path().string()), IoError);
  EXPECT_THROW(load_recording(folder / "missing.mtrec"), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(File, ABrokenRecordingIsNotSavedAndTheOldFileStays) {
  const tests::TemporaryFolder folder;
  save(Recording{}, folder / "r.mtrec");
  Recording broken;
  broken.metadata["key"] = "{";
  EXPECT_THROW(save(broken, folder / "r.mtrec"), InvalidArgument);
  EXPECT_EQ(load_recording(folder / "r.mtrec").recording, Recording{});
}

}  // namespace
}  // namespace mindtorch::ingest
