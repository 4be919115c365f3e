// The tool that NVTX finds, called through a table of functions as a copy of NVTX has it.
#include "mindtorch/bridges/nvtx/injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <thread>
#include <vector>

#include "mindtorch/bridges/nvtx/nvtx_abi.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/trace/invariants.h"
#include "tests/bridges/nvtx/client.h"

namespace mindtorch::nvtx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

class NvtxTest : public testing::Test {
 protected:
  NvtxTest() {
    connecting = &client_;
    EXPECT_EQ(InitializeInjectionNvtx2(&get_export_table), 1);
  }

  template <class Work>
  static Recording record(Work work, bool ranges = true) {
    auto session = record::Session::prepare({.ranges = ranges});
    session->start();
    work();
    Recording recording = session->stop();
    EXPECT_EQ(trace::check_invariants(recording), "");
    return recording;
  }
  static std::vector<EventIndex> events_of(const Recording& recording, EventKind kind) {
    std::vector<EventIndex> found;
    for (EventIndex i = 0; i < recording.events.size(); ++i)
      if (recording.events.kind[i] == kind) found.push_back(i);
    return found;
  }
  static std::vector<std::string> names_of(const Recording& recording, EventKind kind = EventKind::kScope) {
    std::vector<std::string> names;
    for (const EventIndex event : events_of(recording, kind)) names.emplace_back(recording.name(event));
    return names;
  }
  static std::map<std::string, std::string> attributes_of(const Recording& recording, EventIndex event) {
    std::map<std::string, std::string> found;
    for (const trace::Attribute& attribute : recording.attributes.find(event)) {
      std::string& text = found[recording.names[attribute.key]];
      if (trace::has_text(attribute)) {
        text = recording.names[static_cast<std::size_t>(attribute.bits)];
      } else {
        text = attribute.type == trace::Attribute::Type::kDouble ? std::to_string(std::bit_cast<double>(attribute.bits))
                                                                 : std::to_string(attribute.bits);
      }
    }
    return found;
  }

  Client client_;
};

TEST_F(NvtxTest, NestedRangesAreNestedScopes) {
  const Recording recording = record([&] {
    EXPECT_EQ(client_.push("outer"), 0);
    EXPECT_EQ(client_.push("inner"), 1);
    EXPECT_EQ(client_.pop(), 1);
    EXPECT_EQ(client_.pop(), 0);
    EXPECT_LT(client_.pop(), 0) << "there is no range any more";
  });
  EXPECT_THAT(recording.losses, IsEmpty());
  ASSERT_THAT(names_of(recording), ElementsAre("outer", "inner"));
  EXPECT_LE(recording.events.start_ns[0], recording.events.start_ns[1]);
  EXPECT_GE(recording.events.end_ns(0), recording.events.end_ns(1));
}

TEST_F(NvtxTest, NothingIsRecordedUnlessItIsAskedFor) {
  const Recording recording = record(
      [&] {
        client_.push("range");
        client_.call<void>(kMarkA, "mark");
        client_.pop();
      },
      false);
  EXPECT_EQ(recording.events.size(), 0u);
}

TEST_F(NvtxTest, ARangeThatWasOpenBeforeIsNotTakenForAnother) {
  client_.push("before");
  const Recording recording = record([&] {
    client_.push("inside");
    client_.pop();
    client_.pop();  // that of "before"
    client_.push("after");
    client_.pop();
  });
  EXPECT_THAT(recording.losses, IsEmpty());
  EXPECT_THAT(names_of(recording), ElementsAre("inside", "after"));
}

TEST_F(NvtxTest, ARangeThatOutlivesTheRecordingIsUnfinished) {
  const Recording recording = record([&] { client_.push("open"); });
  client_.pop();
  ASSERT_THAT(names_of(recording), ElementsAre("open"));
  EXPECT_EQ(recording.events.flags[0] & trace::kUnfinished, trace::kUnfinished);
}

TEST_F(NvtxTest, MarksAreInstants) {
  const Recording recording = record([&] {
    client_.call<void>(kMarkA, "ascii");
    client_.call<void>(kMarkW, L"wide \u00e9\u20ac\U0001F600");
  });
  EXPECT_THAT(names_of(recording, EventKind::kInstant), ElementsAre("ascii", "wide \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST_F(NvtxTest, AStartedRangeMayEndOnAnotherThread) {
  const Recording recording = record([&] {
    const auto here = client_.call<RangeId>(kRangeStartA, "here");
    const auto there = client_.call<RangeId>(kRangeStartW, L"there");
    client_.call<void>(kRangeEnd, here);
    std::thread([&] { client_.call<void>(kRangeEnd, there); }).join();
    client_.call<void>(kRangeEnd, RangeId{0});  // none
  });
  EXPECT_THAT(recording.losses, IsEmpty());
  ASSERT_THAT(names_of(recording), ElementsAre("here", "there"));
  EXPECT_EQ(recording.events.flags[0] & trace::kAsync, 0);
  EXPECT_EQ(recording.events.flags[1] & trace::kAsync, trace::kAsync);
}

TEST_F(NvtxTest, ThreadsHaveTheirOwnRanges) {
  const Recording recording = record([&] {
    client_.push("main");
    std::thread([&] {
      EXPECT_LT(client_.pop(), 0) << "the range of another thread is not ended";
      client_.push("thread");
      client_.pop();
    }).join();
    client_.pop();
  });
  ASSERT_EQ(recording.tracks.size(), 2u);
  EXPECT_EQ(recording.tracks[0].event_count, 1u);
  EXPECT_EQ(recording.tracks[1].event_count, 1u);
}

TEST_F(NvtxTest, DomainsNestByThemselvesAndAreNamedWithCategoryAndPayload) {
  const auto domain = client_.call<Handle>(kDomainCreateA, "NCCL");
  const auto registered = client_.call<Handle>(kDomainRegisterStringA, domain, "ncclAllReduce");
  client_.call<void>(kDomainNameCategoryA, domain, std::uint32_t{7}, "collectives");
  EventAttributes attributes{.version = 3, .size = sizeof(EventAttributes), .category = 7, .payload_type = kUint64Payload, .payload = 4096};
  attributes.message_type = kRegisteredMessage;
  attributes.message = registered;
  EventAttributes plain{.version = 3, .size = sizeof(EventAttributes), .category = 9, .payload_type = kFloatPayload};
  plain.payload = std::bit_cast<std::uint32_t>(0.5F);
  plain.message_type = kAsciiMessage;
  plain.message = "plain";
  const Recording recording = record([&] {
    client_.call<int>(kDomainRangePushEx, domain, static_cast<const EventAttributes*>(&attributes));
    client_.call<int>(kRangePushEx, static_cast<const EventAttributes*>(&plain));
    EXPECT_EQ(client_.call<int>(kDomainRangePop, domain), 0) << "the range of the domain, although another one was pushed later";
    EXPECT_EQ(client_.pop(), 0);
  });
  ASSERT_THAT(names_of(recording), ElementsAre("ncclAllReduce", "plain"));
  EXPECT_EQ(attributes_of(recording, 0),
            (std::map<std::string, std::string>{{"domain", "NCCL"}, {"category", "collectives"}, {"payload", "4096"}}));
  EXPECT_EQ(attributes_of(recording, 1), (std::map<std::string, std::string>{{"category", "9"}, {"payload", "0.500000"}}));
}

TEST_F(NvtxTest, RangesNestWithTheOpsAroundThem) {
  const Recording recording = record([&] {
    client_.push("range");
    { record::OpScope op(record::intern("aten::mul")); }
    client_.pop();
  });
  ASSERT_EQ(recording.events.size(), 2u);
  EXPECT_EQ(recording.name(0), "range");
  EXPECT_EQ(recording.name(1), "aten::mul");
  EXPECT_LE(recording.events.end_ns(1), recording.events.end_ns(0));
}

TEST(NvtxInjection, RefusesATableThatItDoesNotKnow) {
  EXPECT_EQ(InitializeInjectionNvtx2(nullptr), 0);
  EXPECT_EQ(InitializeInjectionNvtx2([](std::uint32_t) -> const void* { return nullptr; }), 0);
  static const ExportTableCallbacks small{8, &get_table};
  EXPECT_EQ(InitializeInjectionNvtx2([](std::uint32_t) -> const void* { return &small; }), 0);
}

TEST(NvtxInjection, CountsTheLibrariesThatReport) {
  Client client;
  connecting = &client;
  const std::uint32_t before = connected_libraries();
  InitializeInjectionNvtx2(&get_export_table);
  EXPECT_EQ(connected_libraries(), before + 1);
  EXPECT_NE(injection_path(), "");
}

}  // namespace
}  // namespace mindtorch::nvtx
