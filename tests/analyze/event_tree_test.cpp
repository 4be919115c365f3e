// EventTree: torch's rules for parents, merging and self time, on small cases and against a slow reference on random ones.
#include "mindtorch/analyze/event_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "mindtorch/trace/tensor_identity.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Role = EventTree::Role;

struct Tree {
  explicit Tree(trace::Recording made) : recording(std::move(made)), names(recording), tree(recording, names) {}
  trace::Recording recording;
  EventNames names;
  EventTree tree;
};

TEST(EventTree, AChildLiesWhollyInsideTheInnermostEventAroundIt) {
  Maker maker;
  maker.op("outer", 0, 10);
  maker.op("a", 1, 3);
  maker.op("b", 4, 6);  // ends with its parent
  maker.op("inner", 5, 1);
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.parent(0), kNoEvent);
  EXPECT_EQ(t.tree.parent(1), 0u);
  EXPECT_EQ(t.tree.parent(2), 0u);
  EXPECT_EQ(t.tree.parent(3), 2u);
  EXPECT_THAT(t.tree.children(0), ElementsAre(1, 2));
  EXPECT_THAT(t.tree.children(2), ElementsAre(3));
  EXPECT_THAT(t.tree.children(3), IsEmpty());
  EXPECT_EQ(t.tree.self_ns(0), 1);
  EXPECT_EQ(t.tree.self_ns(2), 5);
  EXPECT_EQ(t.tree.depth(3), 2u);
  EXPECT_EQ(t.tree.partial_overlaps(), 0u);
}

TEST(EventTree, PartialOverlapIsNoRelationAndIsCounted) {
  Maker maker;
  maker.op("a", 0, 10);
  maker.op("b", 5, 10);
  maker.op("c", 6, 2);  // inside both: the later one is its parent
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.parent(1), kNoEvent);
  EXPECT_EQ(t.tree.parent(2), 1u);
  EXPECT_EQ(t.tree.self_ns(0), 10);
  EXPECT_EQ(t.tree.self_ns(1), 8);
  EXPECT_EQ(t.tree.partial_overlaps(), 1u);
}

TEST(EventTree, AnEventThatStartsWhereAnotherEndsIsNotInsideIt) {
  Maker maker;
  maker.op("a", 0, 10);
  maker.op("at the end", 10, 0);
  maker.op("nothing", 20, 0);
  maker.op("also nothing", 20, 0);
  const Tree t(maker.finish());
  for (EventIndex i = 0; i < 4; ++i) EXPECT_EQ(t.tree.parent(i), kNoEvent) << i;
}

TEST(EventTree, ThreadsDoNotNestInEachOther) {
  Maker maker;
  const trace::TrackId other = maker.builder().add_thread(200);
  maker.op("a", 0, 100);
  maker.add({.name = "b", .track = other, .start_ns = 10, .duration_ns = 80});
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.parent(1), kNoEvent);
  EXPECT_EQ(t.tree.self_ns(0), 100);
}

TEST(EventTree, AnOnlyChildOfTheSameNameIsMerged) {
  Maker maker;
  maker.op("aten::to", 0, 100);
  maker.op("aten::to", 10, 80);
  maker.op("aten::to", 20, 60);
  maker.op("x", 30, 10);
  maker.op("y", 50, 20);
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.role(1), Role::kMerged);
  EXPECT_EQ(t.tree.role(2), Role::kMerged);
  EXPECT_EQ(t.tree.node_of(2), 0u);
  EXPECT_EQ(t.tree.parent(3), 0u);
  EXPECT_THAT(t.tree.children(0), ElementsAre(3, 4));
  EXPECT_EQ(t.tree.self_ns(0), 70);
  EXPECT_EQ(t.tree.depth(4), 1u);
}

TEST(EventTree, AChildOfTheSameNameWithSiblingsStays) {
  Maker maker;
  maker.op("f", 0, 100);
  maker.op("f", 10, 30);
  maker.op("g", 50, 10);
  const Tree t(maker.finish());
  EXPECT_TRUE(t.tree.is_node(1));
  EXPECT_THAT(t.tree.children(0), ElementsAre(1, 2));
}

TEST(EventTree, HiddenCallsAsyncEventsInstantsAndDeviceActivitiesAreOutside) {
  Maker maker;
  maker.op("outer", 0, 100);
  maker.op("aten::is_leaf", 10, 50);
  maker.op("inside the hidden one", 20, 10);
  maker.add({.name = "async", .track = maker.thread(), .start_ns = 40, .duration_ns = 500, .flags = trace::kAsync});
  maker.op("mark", 70, 0, trace::EventKind::kInstant);
  maker.kernel("kernel", 10, 20, 0);
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.role(1), Role::kUnlisted);
  EXPECT_EQ(t.tree.parent(2), 0u);
  EXPECT_EQ(t.tree.role(3), Role::kLone);
  EXPECT_EQ(t.tree.role(4), Role::kUnlisted);
  EXPECT_EQ(t.tree.role(5), Role::kLone);
  EXPECT_THAT(t.tree.children(0), ElementsAre(2));
  EXPECT_EQ(t.tree.self_ns(0), 90);
}

TEST(EventTree, PythonFramesTakeNoTimeButKnowWhereTheyAre) {
  Maker maker;
  maker.scope("step", 0, 100);
  maker.op("train.py(3): forward", 5, 90, trace::EventKind::kPythonFunction);
  maker.op("nn.Module: Linear", 10, 30, trace::EventKind::kModule);
  maker.op("aten::linear", 15, 20);
  maker.op("longer than all", 50, 500, trace::EventKind::kPythonFunction);
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.role(1), Role::kFrame);
  EXPECT_EQ(t.tree.parent(1), 0u);
  EXPECT_EQ(t.tree.parent(2), 0u);
  EXPECT_EQ(t.tree.parent(3), 0u);
  EXPECT_EQ(t.tree.parent(4), kNoEvent);
  EXPECT_EQ(t.tree.self_ns(0), 80);
  EXPECT_THAT(t.tree.children(0), ElementsAre(3));
}

TEST(EventTree, AMillionLevelsNeedNoRecursion) {
  Maker maker;
  constexpr int kLevels = 1000000;
  for (int i = 0; i < kLevels; ++i) maker.op(i % 2 ? "a" : "b", i, 2 * kLevels - 2 * i);
  const Tree t(maker.finish());
  EXPECT_EQ(t.tree.depth(kLevels - 1), static_cast<std::uint32_t>(kLevels - 1));
}

// torch's own steps, slowly: the last earlier event that contains it, then merging from the top until nothing changes.
struct Reference {
  explicit Reference(const Tree& t) : events(t.recording.events), parent(events.size(), kNoEvent), gone(events.size(), false) {
    for (const trace::Track& track : t.recording.tracks) {
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
        if (!in_tree(t, i)) continue;
        for (EventIndex j = track.first_event; j < i; ++j) {
          if (in_tree(t, j) && events.start_ns[i] < events.end_ns(j) && events.end_ns(i) <= events.end_ns(j)) parent[i] = j;
        }
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (EventIndex i = 0; i < events.size(); ++i) {
        if (gone[i] || parent[i] == kNoEvent || !same_name(t, i, parent[i]) || children(parent[i]).size() != 1) continue;
        for (const EventIndex child : children(i)) parent[child] = parent[i];
        gone[i] = changed = true;
      }
    }
  }

  static bool in_tree(const Tree& t, EventIndex i) {
    const trace::EventKind kind = t.recording.events.kind[i];
    const bool is_frame = kind == trace::EventKind::kModule || kind == trace::EventKind::kPythonFunction;
    return !is_frame && (t.recording.events.flags[i] & trace::kAsync) == 0 && t.recording.name(i) != "aten::is_leaf";
  }
  static bool same_name(const Tree& t, EventIndex a, EventIndex b) {
    const auto plain = [&](EventIndex i) {
      return t.recording.name(i).starts_with("ProfilerStep#") ? "ProfilerStep*" : t.recording.name(i);
    };
    return plain(a) == plain(b);
  }
  std::vector<EventIndex> children(EventIndex i) const {
    std::vector<EventIndex> found;
    for (EventIndex j = 0; j < parent.size(); ++j) {
      if (parent[j] == i && !gone[j]) found.push_back(j);
    }
    return found;
  }
  std::int64_t self_ns(EventIndex i) const {
    std::int64_t self = events.duration_ns[i];
    for (const EventIndex child : children(i)) self -= events.duration_ns[child];
    return self;
  }

  const trace::EventColumns& events;
  std::vector<EventIndex> parent;
  std::vector<bool> gone;
};

TEST(EventTree, RandomRecordingsGiveTheTreeOfTheSlowReference) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Tree t(random_recording(seed, 5 + static_cast<int>(seed) % 90));
    const Reference reference(t);
    for (EventIndex i = 0; i < t.recording.events.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " event " << i);
      ASSERT_EQ(t.tree.role(i) == Role::kMerged, reference.gone[i]);
      if (!t.tree.is_node(i)) continue;
      ASSERT_EQ(t.tree.parent(i), reference.parent[i]);
      ASSERT_EQ(t.tree.children(i), reference.children(i));
      ASSERT_EQ(t.tree.self_ns(i), reference.self_ns(i));
    }
  }
}

TEST(EventTree, WhatIsShownInTracesOnlyIsNotListed) {
  Maker make;
  make.op("aten::a", 0, 10);
  make.add({.name = "nn.Module: Linear_0", .kind = trace::EventKind::kModule, .start_ns = 2, .duration_ns = 4, .flags = trace::kTraceOnly});
  make.add({.name = "nn.Module: Linear_1", .kind = trace::EventKind::kModule, .start_ns = 7, .duration_ns = 1});
  const Tree t(make.finish());
  EXPECT_FALSE(t.tree.is_listed(1));
  EXPECT_TRUE(t.tree.is_listed(2));
}

TEST(EventTree, SelfTimesAddUpToTheRoots) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Tree t(random_recording(seed, 200));
    std::int64_t roots = 0, self = 0;
    for (EventIndex i = 0; i < t.recording.events.size(); ++i) {
      if (!t.tree.is_node(i)) continue;
      self += t.tree.self_ns(i);
      if (t.tree.parent(i) == kNoEvent) roots += t.recording.events.duration_ns[i];
      ASSERT_LE(t.tree.self_ns(i), t.recording.events.duration_ns[i]);
      ASSERT_LT(i, t.tree.subtree_end(i));
    }
    EXPECT_EQ(self, roots);
  }
}

}  // namespace
}  // namespace mindtorch::analyze
