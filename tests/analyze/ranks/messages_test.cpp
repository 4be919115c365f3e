// The peers of send and recv, from the calls that torch records around Gloo's scopes, and from the groups of a rank.
#include "mindtorch/analyze/ranks/messages.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;

// A call of torch with its arguments: tensors, group, peer and tag.
void add_call(Maker& maker, std::string_view name, std::int64_t start, std::int64_t duration, const std::vector<std::int64_t>& numbers) {
  const auto id = maker.op(name, start, duration);
  std::vector<Input> inputs(2);
  inputs[0] = {.kind = Input::Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = {8, 64}};
  for (const std::int64_t number : numbers) inputs.push_back({.kind = Input::Kind::kInt, .integer = number});
  maker.builder().set_inputs(id, inputs);
}

std::vector<FoundCollective> messages_of(Maker& maker) {
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  std::vector<FoundCollective> found = find_collectives(analysis);
  read_message_calls(recording, found);
  return found;
}

TEST(Messages, TakePeerTagAndBeginningFromTheCallAroundThem) {
  Maker maker;
  add_call(maker, "c10d::recv_", 100, 80, {3, 7});
  maker.scope("gloo:recv", 170, 50);  // it ends after the call
  add_call(maker, "c10d::send", 300, 20, {1, 0});
  maker.scope("gloo:send", 310, 5);
  const auto found = messages_of(maker);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, CollectiveKind::kReceive);
  EXPECT_EQ(found[0].peer, 3);
  EXPECT_EQ(found[0].tag, 7);
  EXPECT_EQ(found[0].start_ns, 100);
  EXPECT_EQ(found[0].end_ns, 220);
  EXPECT_EQ(found[1].kind, CollectiveKind::kSend);
  EXPECT_EQ(found[1].peer, 1);
  EXPECT_EQ(found[1].start_ns, 300);
}

TEST(Messages, HaveNoPeerIfNoCallTellsIt) {
  Maker maker;
  maker.op("c10d::send", 100, 20);  // its arguments were not recorded
  maker.scope("gloo:send", 110, 5);
  add_call(maker, "c10d::recv_any_source_", 200, 20, {7});
  maker.scope("gloo:recv", 210, 5);
  add_call(maker, "c10d::send", 300, 5, {1, 0});  // it is over when the scope begins
  maker.scope("gloo:send", 310, 5);
  const auto found = messages_of(maker);
  ASSERT_EQ(found.size(), 3U);
  for (const FoundCollective& message : found) EXPECT_EQ(message.peer, -1);
}

TEST(Messages, OfADeviceTellTheirPeerThemselves) {
  Maker maker;
  maker.launch(12, 2, 1);
  const auto id = maker.kernel("ncclDevKernel_SendRecv", 30, 40, 1);
  maker.builder().add_attribute(id, "Collective name", std::string_view("recv"));
  maker.builder().add_attribute(id, "Src Rank", std::int64_t{2});
  const auto found = messages_of(maker);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, CollectiveKind::kReceive);
  EXPECT_EQ(found[0].peer, 2);
}

std::int64_t rank_of(std::int64_t place, const std::string& group, const std::vector<trace::RankGroup>& groups) {
  std::vector<FoundCollective> messages{{.group = group, .kind = CollectiveKind::kSend, .peer = place}};
  find_peer_ranks({.rank = 4, .groups = groups}, messages);
  return messages[0].peer;
}

TEST(Messages, PeersArePlacesInTheirGroup) {
  const trace::RankGroup world{"0", {0, 1, 2, 3, 4, 5}}, stages{"pp", {0, 2, 4}};
  EXPECT_EQ(rank_of(3, "", {}), 3) << "without lists of ranks, places are ranks";
  EXPECT_EQ(rank_of(1, "", {world}), 1);
  EXPECT_EQ(rank_of(1, "pp", {world, stages}), 2);
  EXPECT_EQ(rank_of(1, "0", {world, stages}), 1);
  EXPECT_EQ(rank_of(1, "", {world, stages}), -1) << "the group is not known, and they disagree";
  EXPECT_EQ(rank_of(0, "", {world, stages}), 0) << "they agree";
  EXPECT_EQ(rank_of(2, "", {world, stages}), 2) << "no rank sends to itself";
  EXPECT_EQ(rank_of(9, "", {world}), -1);
}

}  // namespace
}  // namespace mindtorch::analyze
