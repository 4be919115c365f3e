// Packing of pieces and memory events: exact, and malformed bytes leave the recording as it was.
#include "mindtorch/trace/piece.h"

#include <gtest/gtest.h>

#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/random_recording.h"

namespace mindtorch::trace {
namespace {

Piece whole_track(const Recording& r, TrackId t) {
  const Track& track = r.tracks[t];
  return make_piece(r, t, 0, track.first_event, track.first_event + track.event_count);
}

// The recording without events: what a reader has when the first piece comes.
Recording without_events(const Recording& r) {
  Recording empty;
  empty.names = r.names;
  empty.tracks = r.tracks;
  empty.stacks = r.stacks;
  empty.stacks.of_event = {};
  return empty;
}

class PieceTest : public ::testing::Test {
 protected:
  // A recording with one track, so that one piece holds everything.
  static Recording one_track(std::uint64_t seed) {
    for (;; ++seed) {
      Recording r = random_recording(seed, 60);
      if (r.tracks.size() == 1) return r;
    }
  }
  PieceTest() : recording_(one_track(1)), piece_(whole_track(recording_, 0)), known_{recording_.names.size(), recording_.stacks.size()} {}
  PieceRows decode(std::span<const char> bytes, Recording& into, PieceContext context = {}) {
    ByteReader in(bytes);
    return codec_.decode(in, context, into);
  }

  Recording recording_;
  Piece piece_;
  KnownIds known_;
  PieceCodec codec_;
  ByteWriter out_;
};

TEST_F(PieceTest, EventsAndTheirSideDataComeBack) {
  codec_.encode(piece_, known_, out_);
  Recording into = without_events(recording_);
  const PieceRows rows = decode(out_.bytes(), into);
  EXPECT_EQ(rows.rows, recording_.events.size());
  EXPECT_EQ(into.events, recording_.events);
  EXPECT_EQ(into.inputs, recording_.inputs);
  EXPECT_EQ(into.attributes, recording_.attributes);
  EXPECT_EQ(into.stacks, recording_.stacks);
}

TEST_F(PieceTest, ASecondPieceIsAppended) {
  codec_.encode(piece_, known_, out_);
  Recording into = without_events(recording_);
  decode(out_.bytes(), into);
  EXPECT_EQ(decode(out_.bytes(), into).first_row, recording_.events.size());
  const auto shift = static_cast<EventIndex>(recording_.events.size());
  for (const EventIndex event : recording_.inputs.events) {
    ASSERT_TRUE(std::ranges::equal(into.inputs.find(event + shift), recording_.inputs.find(event)));
  }
}

TEST_F(PieceTest, RowsAreRenumberedFromTheFirstEventOfThePiece) {
  SideTable<std::int64_t> inputs;
  inputs.add(1000, std::vector<std::int64_t>{0});
  piece_.inputs = inputs;
  piece_.attributes = {};
  piece_.stacks = {};
  piece_.first_event = 995;
  codec_.encode(piece_, known_, out_);
  Recording into = without_events(recording_);
  decode(out_.bytes(), into);
  EXPECT_EQ(into.inputs.events, (std::vector<EventIndex>{5}));
}

TEST_F(PieceTest, EqualRowsAreStoredOnce) {
  const std::vector<std::int64_t> row = {1, make_input_header(Input::Kind::kIntList, 100)};
  SideTable<std::int64_t> once, always;
  std::vector<std::int64_t> long_row = row;
  long_row.resize(102, 123456789);
  for (EventIndex i = 0; i < piece_.size(); ++i) {
    always.add(i, long_row);
    if (i == 0) once.add(i, long_row);
  }
  piece_.inputs = once;
  codec_.encode(piece_, known_, out_);
  const std::size_t small = out_.bytes().size();
  out_.clear();
  piece_.inputs = always;
  codec_.encode(piece_, known_, out_);
  EXPECT_LT(out_.bytes().size(), small + 2 * piece_.size() + 20);
}

TEST_F(PieceTest, EveryTruncationIsMalformedAndLeavesTheRecordingAsItWas) {
  codec_.encode(piece_, known_, out_);
  Recording into = without_events(recording_);
  decode(out_.bytes(), into);
  const Recording before = into;
  for (std::size_t n = 0; n < out_.bytes().size(); ++n) {
    ASSERT_THROW(decode(out_.bytes().first(n), into), Malformed) << n;
    ASSERT_EQ(into, before) << n;
  }
}

TEST_F(PieceTest, RandomBytesNeverBreakTheRecording) {
  codec_.encode(piece_, known_, out_);
  const std::vector<char> good(out_.bytes().begin(), out_.bytes().end());
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<char> bytes = good;
    for (int k = 0; k < 1 + static_cast<int>(random() % 3); ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    Recording into = without_events(recording_);
    const Recording before = into;
    try {
      decode(bytes, into);
      into.tracks[0].event_count = static_cast<EventIndex>(into.events.size());
      const std::string broken = check_invariants(into);
      ASSERT_TRUE(broken.empty() || broken.find("out of order") != std::string::npos) << broken;
    } catch (const Malformed&) {
      ASSERT_EQ(into, before);
    }
  }
}

TEST_F(PieceTest, LinksOfAnyPatternComeBack) {
  std::vector<std::uint64_t> links(piece_.size());
  const auto round_trip = [&] {
    piece_.events.link = links;
    out_.clear();
    codec_.encode(piece_, known_, out_);
    Recording into = without_events(recording_);
    decode(out_.bytes(), into);
    EXPECT_TRUE(std::ranges::equal(into.events.link, links));
    return out_.bytes().size();
  };
  const std::size_t none = round_trip();
  for (std::size_t i = 0; i < links.size(); ++i) links[i] = 1'000'000'000'000 + i;
  EXPECT_LT(round_trip(), none + 7 * links.size());
  std::mt19937_64 random(6);
  for (std::uint64_t& link : links) link = random();
  round_trip();
  std::ranges::fill(links, 0);
  links[3] = std::uint64_t{1} << 63;  // the difference whose code would mean "none"
  round_trip();
}

TEST_F(PieceTest, KindsOfANewerMinorVersionAreReadAsScopes) {
  std::vector<EventKind> kinds(piece_.size(), EventKind::kOp);
  piece_.events.kind = kinds;
  codec_.encode(piece_, known_, out_);
  std::vector<char> bytes(out_.bytes().begin(), out_.bytes().end());
  // {track, ordinal, unit, count} take a byte each; then the smallest kind, zigzag.
  ASSERT_EQ(bytes[4], 0);
  bytes[4] = 2 * 40;
  Recording into = without_events(recording_);
  EXPECT_THROW(decode(bytes, into), Malformed);
  into.tracks[0].kind = Track::Kind::kThread;
  decode(bytes, into, {.newer_minor = true});
  EXPECT_EQ(into.events.kind[0], EventKind::kScope);
  into.tracks[0].kind = Track::Kind::kStream;
  const PieceRows rows = decode(bytes, into, {.newer_minor = true});
  EXPECT_EQ(into.events.kind[rows.first_row], EventKind::kDeviceScope);
}

TEST_F(PieceTest, TicksNeedAClock) {
  piece_.unit = TimeUnit::kTicks;
  codec_.encode(piece_, known_, out_);
  Recording into = without_events(recording_);
  EXPECT_THROW(decode(out_.bytes(), into), Malformed);
  EXPECT_EQ(decode(out_.bytes(), into, {.has_clock = true}).unit, TimeUnit::kTicks);
}

TEST_F(PieceTest, MemoryEventsComeBackAndMalformedOnesLeaveNothing) {
  codec_.encode_memory(recording_.memory, 0, recording_.memory.size(), out_);
  Recording into = without_events(recording_);
  ByteReader in(out_.bytes());
  codec_.decode_memory(in, into);
  EXPECT_EQ(into.memory, recording_.memory);
  for (std::size_t n = 0; n < out_.bytes().size(); ++n) {
    ByteReader cut(out_.bytes().first(n));
    ASSERT_THROW(codec_.decode_memory(cut, into), Malformed);
    ASSERT_EQ(into.memory, recording_.memory);
  }
}

TEST_F(PieceTest, SamplesComeBackAndMalformedOnesLeaveNothing) {
  ASSERT_GT(recording_.samples.size(), 0u);
  codec_.encode_samples(recording_.samples, 0, recording_.samples.size(), out_);
  Recording into = without_events(recording_);
  ByteReader in(out_.bytes());
  codec_.decode_samples(in, {}, into);
  EXPECT_EQ(into.samples, recording_.samples);
  for (std::size_t n = 0; n < out_.bytes().size(); ++n) {
    ByteReader cut(out_.bytes().first(n));
    ASSERT_THROW(codec_.decode_samples(cut, {}, into), Malformed);
    ASSERT_EQ(into.samples, recording_.samples);
  }
}

TEST_F(PieceTest, ASampleThatCannotBeIsMalformed) {
  const SampleFields<std::type_identity_t> good{.time_ns = 5, .duration_ns = 1, .track = 0, .stack = 0, .state = ThreadState::kSleeps};
  const auto accepts = [&](auto&& change, PieceContext context = {}) {
    SampleColumns samples;
    samples.push_back(good);
    change(samples);
    ByteWriter out;
    codec_.encode_samples(samples, 0, 1, out);
    ByteReader in(out.bytes());
    Recording into = without_events(recording_);
    try {
      codec_.decode_samples(in, context, into);
    } catch (const Malformed&) {
      EXPECT_EQ(into.samples.size(), 0u);
      return false;
    }
    EXPECT_EQ(check_invariants(into), "");
    return true;
  };
  for (Track& track : recording_.tracks) track.event_count = track.first_event = 0;
  EXPECT_TRUE(accepts([](SampleColumns&) {}));
  EXPECT_FALSE(accepts([](SampleColumns& s) { s.track[0] = 1; }));
  EXPECT_FALSE(accepts([&](SampleColumns& s) { s.stack[0] = static_cast<StackId>(recording_.stacks.size()); }));
  EXPECT_FALSE(accepts([](SampleColumns& s) { s.duration_ns[0] = -1; }));
  EXPECT_FALSE(accepts([](SampleColumns& s) { s.duration_ns[0] = INT64_MAX; }));
  EXPECT_FALSE(accepts([](SampleColumns& s) { s.state[0] = static_cast<ThreadState>(kThreadStates); }));
  // A newer writer may know more states.
  EXPECT_TRUE(accepts([](SampleColumns& s) { s.state[0] = static_cast<ThreadState>(kThreadStates); }, {.newer_minor = true}));
}

}  // namespace
}  // namespace mindtorch::trace
