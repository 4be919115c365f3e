// Places: time in a library is charged to the user's line that asked for it.
#include "mindtorch/analyze/places.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(Places, TheInnermostLineOfTheUserIsThePlace) {
  Maker maker;
  const auto op = maker.op("aten::mm", 0, 10);
  maker.stack(op, {{"/usr/lib/python3.12/threading.py", 300, "wait"},
                   {"/usr/lib/python3.12/queue.py", 170, "get"},
                   {"/home/me/train.py", 12, "next_batch"},
                   {"/home/me/train.py", 40, "main"}});
  const trace::Recording recording = maker.finish();
  Places places(recording);
  const Place& place = places[places.of_stack(0)];
  EXPECT_EQ(place.line, "/home/me/train.py:12:next_batch");
  EXPECT_EQ(place.function, "next_batch");
  EXPECT_EQ(place.called, "/usr/lib/python3.12/queue.py:get");
  EXPECT_EQ(place.inner, "/usr/lib/python3.12/threading.py:wait");
  EXPECT_EQ(place.hint, Cause::kThread);
}

TEST(Places, AComprehensionBelongsToTheFunctionAroundIt) {
  const auto function_of = [](const std::vector<Maker::Place>& innermost_first) {
    Maker maker;
    maker.stack(maker.op("aten::mm", 0, 10), innermost_first);
    const trace::Recording recording = maker.finish();
    Places places(recording);
    const Place& place = places[places.of_stack(0)];
    EXPECT_EQ(place.line, "train.py:12:" + place.function);
    return place.function;
  };
  EXPECT_EQ(function_of({{"train.py", 12, "<genexpr>"}, {"train.py", 12, "mean"}, {"train.py", 40, "<module>"}}), "mean");
  EXPECT_EQ(function_of({{"train.py", 12, "<lambda>"}, {"train.py", 12, "<listcomp>"}, {"train.py", 40, "<module>"}}), "<module>");
  EXPECT_EQ(function_of({{"train.py", 12, "<lambda>"}, {"other.py", 3, "main"}}), "<lambda>") << "another file only calls it";
}

TEST(Places, ALineThatRunsItselfHasNoHint) {
  Maker maker;
  maker.stack(maker.op("aten::mm", 0, 10), {{"train.py", 12, "main"}});
  const trace::Recording recording = maker.finish();
  Places places(recording);
  const Place& place = places[places.of_stack(0)];
  EXPECT_EQ(place.line, "train.py:12:main");
  EXPECT_EQ(place.inner, "");
  EXPECT_EQ(place.hint, Cause::kUnknown);
}

TEST(Places, WaitingForAFileIsExplainedByWhoWaits) {
  const Maker::Place select{"/usr/lib/python3.12/selectors.py", 415, "select"};
  const auto hint_below = [&](const Maker::Place& outer) {
    Maker maker;
    maker.stack(maker.op("aten::mm", 0, 10), {select, outer, {"train.py", 5, "main"}});
    const trace::Recording recording = maker.finish();
    Places places(recording);
    return places[places.of_stack(0)].hint;
  };
  EXPECT_EQ(hint_below({"/usr/lib/python3.12/urllib/request.py", 40, "urlopen"}), Cause::kIo);
  EXPECT_EQ(hint_below({"/usr/lib/python3.12/subprocess.py", 2000, "communicate"}), Cause::kThread);
  EXPECT_EQ(hint_below({"/usr/lib/python3.12/socketserver.py", 230, "serve_forever"}), Cause::kRequests);
  EXPECT_EQ(hint_below({"/usr/lib/python3.12/asyncio/base_events.py", 1900, "_run_once"}), Cause::kRequests);
}

TEST(Places, CallsAreReadFromTheirNames) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  const trace::NameId main = builder.intern("train.py(3): main"), sleep = builder.intern("<built-in function sleep>"),
                      other = builder.intern("train.py(30): other");
  maker.op("aten::mm", 0, 1);
  const trace::Recording recording = maker.finish();
  Places places(recording);
  const auto in_main = places.enter(Places::kNoCalls, main);
  const auto in_sleep = places.enter(in_main, sleep);
  EXPECT_EQ(places[places.of_calls(in_main)].line, "train.py:3:main");
  EXPECT_EQ(places[places.of_calls(in_sleep)].line, "train.py:3:main");
  EXPECT_EQ(places[places.of_calls(in_sleep)].hint, Cause::kSleep);
  EXPECT_EQ(places.enter(in_sleep, other), places.enter(Places::kNoCalls, other))
      << "what is outside of the user's function does not count";
  EXPECT_EQ(places.of_calls(Places::kNoCalls), kNoPlace);
}

}  // namespace
}  // namespace mindtorch::analyze
