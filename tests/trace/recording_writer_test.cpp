// RecordingWriter as a spilling session uses it: pieces in ticks while recording goes on, killed at any moment.
#include "mindtorch/trace/recording_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::trace {
namespace {

// Events of one segment of a thread's log, in ticks.
struct Segment : Recording {
  void add(std::int64_t start_tick, std::int64_t ticks, NameId name_id = 1) {
    events.push_back({.start_ns = start_tick, .duration_ns = ticks, .name = name_id});
  }
  Piece piece(TrackId track, std::uint64_t first_ordinal, TimeUnit unit = TimeUnit::kTicks) const {
    Piece piece = make_piece(*this, track, first_ordinal, 0, events.size());
    piece.unit = unit;
    // Also the rows of events that do not exist.
    piece.inputs = inputs;
    piece.attributes = attributes;
    piece.stacks = stacks.of_event;
    return piece;
  }
};

class RecordingWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = ::open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ASSERT_GE(fd_, 0);
    writer_.emplace(fd_, path());
  }
  void TearDown() override { ::close(fd_); }

  std::string path() const { return folder_ / "spill.mtrec"; }
  LoadResult loaded() const { return ingest::load_recording(path()); }
  void add_thread() { writer_->add_track(writer_->track_count(), {.pid = 1, .id = 100 + writer_->track_count(), .number = 1}); }
  // One name, one clock (2 ns a tick, tick 1000 is timeline zero) and two threads.
  void begin() {
    writer_->add_names(0, std::vector<std::string_view>{"", "op"});
    writer_->add_clock({.tick0 = 1000, .ns0 = 0, .ns_per_tick = 2, .base_unix_ns = 77, .name = "tsc", .error_bound_ns = 5, .samples = 3});
    add_thread();
    add_thread();
  }

  tests::TemporaryFolder folder_;
  int fd_ = -1;
  std::optional<RecordingWriter> writer_;
};

TEST_F(RecordingWriterTest, TicksAreMappedWithTheLastClock) {
  begin();
  Segment segment;
  segment.add(1000, 10);
  segment.add(1500, 20);
  writer_->add_piece(segment.piece(0, 0));
  writer_->add_steps(std::vector<StepMark>{{1200, 7}}, TimeUnit::kTicks);
  writer_->add_tags(std::vector<MemoryTag>{{1300, 0xABC, MemoryCategory::kGradient}}, TimeUnit::kTicks);
  MemoryColumns memory;
  memory.resize(1);
  memory.time_ns[0] = 1400, memory.track[0] = 1, memory.address[0] = 0xABC, memory.bytes[0] = 64;
  memory.device[0] = {DeviceType::kNpu, 2}, memory.total_allocated[0] = 64, memory.total_reserved[0] = 128;
  writer_->add_memory(memory, TimeUnit::kTicks);
  Stacks stacks;
  stacks.frames = {{0, 1, 12}};
  stacks.frame_ids = {0};
  stacks.offsets = {0, 1};
  writer_->add_stacks(stacks);
  SampleColumns samples;
  samples.push_back({.time_ns = 1600, .duration_ns = 10, .track = 1, .stack = 0, .state = ThreadState::kWaitsForIo});
  writer_->add_samples(samples, 0, 1, TimeUnit::kTicks);
  writer_->add_clock({.tick0 = 1000, .ns0 = 50, .ns_per_tick = 3, .base_unix_ns = 78});
  Recording summary;
  summary.clock = {.base_unix_ns = 78, .start_ns = 50, .end_ns = 9999, .domains = {}};
  summary.trace_id = "id";
  writer_->add_summary(summary);
  writer_->finish();

  const LoadResult result = loaded();
  const Recording& r = result.recording;
  EXPECT_FALSE(result.damage.has_value());
  ASSERT_EQ(check_invariants(r), "");
  EXPECT_EQ(r.events.start_ns[1], 50 + 500 * 3);
  EXPECT_EQ(r.events.duration_ns[1], 20 * 3);
  EXPECT_EQ(r.steps[0], (StepMark{50 + 600, 7}));
  EXPECT_EQ(r.memory_tags[0].time_ns, 50 + 900);
  EXPECT_EQ(r.memory.time_ns[0], 50 + 1200);
  EXPECT_EQ(r.memory.device[0], (Device{DeviceType::kNpu, 2}));
  ASSERT_EQ(r.samples.size(), 1u);
  EXPECT_EQ(r.samples.time_ns[0], 50 + 1800);
  EXPECT_EQ(r.samples.duration_ns[0], 30);
  EXPECT_EQ(r.samples.track[0], 1u);
  EXPECT_EQ(r.stacks.frames[r.stacks.frames_of(r.samples.stack[0])[0]].line, 12);
  EXPECT_EQ(r.samples.state[0], ThreadState::kWaitsForIo);
  EXPECT_EQ(r.clock, summary.clock);
  EXPECT_EQ(r.trace_id, "id");
  EXPECT_TRUE(r.losses.empty());
}

TEST_F(RecordingWriterTest, AKilledSessionKeepsNamesTracksAndEvents) {
  begin();
  Segment first, second, other;
  first.add(1000, 10);
  other.add(1001, 10);
  second.add(2000, 10);
  writer_->add_piece(first.piece(0, 0));
  writer_->add_piece(other.piece(1, 0));
  writer_->add_piece(second.piece(0, 1));
  const LoadResult result = loaded();
  const Recording& r = result.recording;
  ASSERT_TRUE(result.damage.has_value());
  EXPECT_EQ(result.damage_offset, writer_->bytes_written());
  ASSERT_EQ(check_invariants(r), "");
  ASSERT_EQ(r.tracks.size(), 2u);
  EXPECT_EQ(r.tracks[0].event_count, 2u);
  EXPECT_EQ(r.tracks[1].id, 101);
  EXPECT_EQ(r.name(0), "op");
  EXPECT_EQ(r.clock.base_unix_ns, 77);
  EXPECT_EQ(r.clock.end_ns, 2020);
  ASSERT_EQ(r.clock.domains.size(), 1u);
  EXPECT_EQ(r.clock.domains[0], (ClockDomain{"tsc", 5e8, 5, 3}));
  ASSERT_EQ(r.losses.size(), 1u);
  EXPECT_EQ(r.losses[0].reason, LossReason::kDamagedFile);
  EXPECT_EQ(r.losses[0].where, path());
}

TEST_F(RecordingWriterTest, AFileCutOffAnywhereIsASoundPrefix) {
  begin();
  for (std::uint64_t i = 0; i < 5; ++i) {
    Segment segment;
    for (int k = 0; k < 20; ++k) segment.add(static_cast<std::int64_t>(1000 + i * 100) + k, k == 7 ? kStillOpen : k);
    writer_->add_piece(segment.piece(0, i * 20));
    writer_->add_patches(std::vector<PatchedEnd>{{0, i * 20 + 7, 9000, kAsync}});
  }
  writer_->finish();
  const std::string bytes = read_file(path());
  for (std::size_t size = 16; size < bytes.size(); ++size) {
    const LoadResult result = ingest::load_recording_bytes(std::string_view(bytes).substr(0, size), "test");
    ASSERT_TRUE(result.damage.has_value()) << size;
    ASSERT_EQ(check_invariants(result.recording), "") << size;
    ASSERT_EQ(result.recording.events.size() % 20, 0u) << size;
  }
  EXPECT_EQ(ingest::load_recording_bytes(bytes, "test").recording.events.size(), 100u);
}

TEST_F(RecordingWriterTest, WhatLiesInAndBehindADamagedPieceIsCounted) {
  begin();
  std::vector<std::uint64_t> ends;  // of the pieces in the file
  const auto add_piece = [&](TrackId track, std::uint64_t ordinal) {
    Segment segment;
    for (int k = 0; k < 20; ++k) segment.add(static_cast<std::int64_t>(1000 + ordinal) + k, 1);
    writer_->add_piece(segment.piece(track, ordinal));
    ends.push_back(writer_->bytes_written());
  };
  add_piece(0, 0);
  add_piece(0, 20);  // will be damaged
  add_piece(1, 0);
  add_piece(0, 40);
  add_piece(1, 20);
  const std::string whole = read_file(path());
  const auto lost_if_changed = [&](std::uint64_t byte) {
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ 0x40);
    const LoadResult result = ingest::load_recording_bytes(bytes, "test");
    EXPECT_EQ(result.recording.events.size(), 20u);
    return result.recording.losses.back();
  };
  const Loss loss = lost_if_changed(ends[1] - 1);
  EXPECT_EQ(loss.reason, LossReason::kDamagedFile);
  EXPECT_EQ(loss.count, 80u);
  EXPECT_EQ(lost_if_changed(ends[0] + 16).count, 1u) << "a corrupt length hides what follows";
}

TEST_F(RecordingWriterTest, PatchesCloseOpenEventsWhateverPieceTheyLieIn) {
  begin();
  Segment first, second;
  first.add(1000, kStillOpen);
  first.add(1010, 5);
  second.add(1100, kStillOpen);
  second.add(1110, kStillOpen);
  writer_->add_piece(first.piece(0, 0));
  writer_->add_piece(second.piece(0, 2));
  writer_->add_patches(std::vector<PatchedEnd>{{0, 3, 1120, 0}, {0, 0, 1200, kAsync}, {0, 1, 5000, 0}, {1, 0, 5000, 0}, {0, 99, 5000, 0}});
  writer_->finish();
  const Recording r = loaded().recording;
  ASSERT_EQ(check_invariants(r), "");
  EXPECT_EQ(r.events.duration_ns[0], 400);
  EXPECT_EQ(r.events.flags[0], kAsync);
  EXPECT_EQ(r.events.duration_ns[1], 10) << "an event that has an end keeps it";
  EXPECT_EQ(r.events.duration_ns[3], 20);
  EXPECT_EQ(r.events.flags[2], kUnfinished);
  EXPECT_EQ(r.events.end_ns(2), 400) << "the last known time";
  ASSERT_EQ(r.losses.size(), 1u);
  EXPECT_EQ(r.losses[0], (Loss{LossReason::kUnfinished, 1, "thread 100", "still open when the recording ended"}));
}

TEST_F(RecordingWriterTest, AnEventOpenInAFinishedFileEndsWithTheRecording) {
  begin();
  Segment segment;
  segment.add(1000, kStillOpen);
  writer_->add_piece(segment.piece(1, 0));
  Recording summary;
  summary.clock.end_ns = 5000;
  writer_->add_summary(summary);
  writer_->finish();
  EXPECT_EQ(loaded().recording.events.duration_ns[0], 5000);
}

TEST_F(RecordingWriterTest, SideDataStaysWithItsEvent) {
  begin();
  Stacks stacks;
  stacks.frames = {{1, 1, 5}};
  stacks.frame_ids = {0};
  stacks.offsets = {0, 1};
  writer_->add_stacks(stacks);
  Segment segment;
  for (int i = 0; i < 4; ++i) segment.add(1000 + i, 1);
  segment.inputs.add(2, std::vector<std::int64_t>{0});
  segment.attributes.add(1, std::vector<Attribute>{{1, Attribute::Type::kText, 1}});
  segment.stacks.of_event.add(3, std::vector<StackId>{0});
  writer_->add_piece(segment.piece(1, 0));
  stacks.frames.push_back({1, 0, 6});
  stacks.frame_ids.push_back(1);
  stacks.offsets.push_back(2);
  writer_->add_stacks(stacks);
  segment.stacks.of_event.values[0] = 1;
  writer_->add_piece(segment.piece(0, 0));
  writer_->finish();
  const Recording r = loaded().recording;
  ASSERT_EQ(check_invariants(r), "");
  EXPECT_EQ(r.inputs.events, (std::vector<EventIndex>{2, 6}));
  EXPECT_EQ(r.attributes.events, (std::vector<EventIndex>{1, 5}));
  EXPECT_EQ(r.stacks.of_event.find(3)[0], 1u);
  EXPECT_EQ(r.stacks.of_event.find(7)[0], 0u);
  EXPECT_EQ(r.stacks.frames[1].line, 6);
}

TEST_F(RecordingWriterTest, PiecesThatComeOutOfOrderArePutInOrder) {
  begin();
  Segment early, late;
  early.add(1000, 1);
  late.add(2000, 1);
  late.add(1500, 1);  // a device that reports late
  writer_->add_piece(late.piece(0, 1));
  writer_->add_piece(early.piece(0, 0));
  writer_->finish();
  const Recording r = loaded().recording;
  ASSERT_EQ(check_invariants(r), "");
  EXPECT_EQ(r.events.start_ns[0], 0);
  EXPECT_EQ(r.events.start_ns[2], 2000);
}

TEST_F(RecordingWriterTest, NamesMayBeHandedOverAgain) {
  writer_->add_names(0, std::vector<std::string_view>{"", "a"});
  writer_->add_names(0, std::vector<std::string_view>{"", "a", "b"});
  writer_->add_names(2, std::vector<std::string_view>{"b"});
  writer_->add_names(3, std::vector<std::string_view>{"c"});
  EXPECT_EQ(writer_->name_count(), 4u);
  EXPECT_EQ(loaded().recording.names, (std::vector<std::string>{"", "a", "b", "c"}));
}

TEST_F(RecordingWriterTest, TheLastWordAboutATrackCounts) {
  begin();
  writer_->add_track(0, {.pid = 1, .id = 100, .number = 1, .name = "worker"});
  EXPECT_EQ(writer_->track_count(), 2u);
  EXPECT_EQ(loaded().recording.tracks[0].name, "worker");
}

TEST_F(RecordingWriterTest, WhatAReaderCouldNotReadIsRefused) {
  Segment segment;
  segment.add(1, 1);
  EXPECT_THROW(writer_->add_piece(segment.piece(0, 0)), InvalidArgument) << "no clock";
  EXPECT_THROW(writer_->add_piece(segment.piece(0, 0, TimeUnit::kNanoseconds)), InvalidArgument) << "no track";
  EXPECT_THROW(writer_->add_clock({.ns_per_tick = 0}), InvalidArgument);
  EXPECT_THROW(writer_->add_names(5, std::vector<std::string_view>{"gap"}), InvalidArgument);
  EXPECT_THROW(writer_->add_track(3, {}), InvalidArgument);
  EXPECT_THROW(writer_->add_steps(std::vector<StepMark>{{1, 1}}, TimeUnit::kTicks), InvalidArgument);
  begin();
  const auto refused = [&](auto&& change) {
    Segment broken;
    broken.add(1, 1);
    change(broken);
    EXPECT_THROW(writer_->add_piece(broken.piece(0, 0)), InvalidArgument);
  };
  refused([](Segment& s) { s.events.name[0] = 2; });
  refused([](Segment& s) { s.events.duration_ns[0] = -2; });
  Piece uneven = segment.piece(0, 0);
  uneven.events.flags = {};
  EXPECT_THROW(writer_->add_piece(uneven), InvalidArgument) << "columns of different length";
  refused([](Segment& s) { s.events.kind[0] = static_cast<EventKind>(99); });
  refused([](Segment& s) { s.inputs.add(1, std::vector<std::int64_t>{0}); });
  refused([](Segment& s) { s.inputs.add(0, std::vector<std::int64_t>{7}); });
  refused([](Segment& s) { s.stacks.of_event.add(0, std::vector<StackId>{0}); });
  refused([](Segment& s) { s.attributes.add(0, std::vector<Attribute>{{2, Attribute::Type::kInt, 0}}); });
  Recording summary;
  summary.metadata["key"] = "{";
  EXPECT_THROW(writer_->add_summary(summary), InvalidArgument);
  writer_->finish();
  EXPECT_THROW(writer_->add_piece(segment.piece(0, 0)), InvalidArgument) << "finished";
  EXPECT_FALSE(loaded().damage.has_value()) << "nothing of what was refused is in the file";
}

TEST_F(RecordingWriterTest, AFullDiskIsAnIoErrorAndTheCallMayBeRepeated) {
  begin();
  Segment segment;
  std::uint32_t state = 1;
  for (int i = 0; i < 20'000; ++i) segment.add((state = state * 1664525 + 1013904223) >> 4, 1);
  std::ranges::sort(segment.events.start_ns);
  writer_->add_piece(segment.piece(0, 0));
  const std::uint64_t good = writer_->bytes_written();

  // A file size limit stands for the full disk: the write comes back short, then fails.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{good + 1000, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(writer_->add_piece(segment.piece(0, 20'000)), IoError);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_EQ(std::filesystem::file_size(path()), good) << "no torn chunk stays behind";
  writer_->add_piece(segment.piece(0, 20'000));
  writer_->finish();
  const LoadResult result = loaded();
  EXPECT_FALSE(result.damage.has_value());
  EXPECT_EQ(result.recording.events.size(), 40'000u);
}

TEST_F(RecordingWriterTest, SideRowsMayComeAfterTheirEvents) {
  begin();
  Segment first, second;
  first.add(1000, kStillOpen);
  first.add(1010, 5);
  second.add(1020, 5);
  const Attribute early{1, Attribute::Type::kInt, 10}, late{1, Attribute::Type::kInt, 11};
  first.attributes.add(0, {&early, 1});
  const std::size_t number = writer_->add_piece(first.piece(0, 0));
  writer_->add_piece(second.piece(0, 2));
  writer_->add_piece(second.piece(1, 0));
  SharedTable<Attribute> attributes;  // of events that count from 7
  attributes.add(7, {&late, 1});
  attributes.add(8, {&late, 1});
  const LatePiece rows{.piece = number, .first_event = 7, .events = 2, .inputs = {}, .attributes = attributes, .stacks = {}};
  writer_->add_late_rows(rows);
  writer_->add_patches(std::vector<PatchedEnd>{{.track = 0, .ordinal = 0, .end_tick = 1030, .flags = kAsync, .link = 42}});
  writer_->finish();
  const LoadResult result = loaded();
  EXPECT_EQ(result.damage, std::nullopt);
  const Recording& recording = result.recording;
  EXPECT_EQ(check_invariants(recording), "");
  ASSERT_EQ(recording.events.size(), 4u);
  ASSERT_EQ(recording.attributes.find(0).size(), 2u);
  EXPECT_EQ(recording.attributes.find(0)[0].bits, 10);
  EXPECT_EQ(recording.attributes.find(0)[1].bits, 11);
  EXPECT_EQ(recording.attributes.find(1)[0].bits, 11);
  EXPECT_TRUE(recording.attributes.find(2).empty());
  EXPECT_EQ(recording.events.duration_ns[0], 60);
  EXPECT_EQ(recording.events.link[0], 42u);
  EXPECT_EQ(recording.events.flags[0], kAsync);
  EXPECT_THROW(writer_->add_late_rows(rows), InvalidArgument) << "the recording is finished";
}

TEST_F(RecordingWriterTest, LateRowsOfAPieceThatIsNotThereAreRefused) {
  begin();
  EXPECT_THROW(writer_->add_late_rows({.piece = 0}), InvalidArgument);
}

}  // namespace
}  // namespace mindtorch::trace
