// TensorIds: tensors are told apart by their memory and their objects.
#include "mindtorch/analyze/tensor_ids.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/analyze/identified_inputs.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;
using trace::TensorIdentity;

TensorIdentity tensor(std::uint64_t object, std::uint64_t storage, trace::Device device = {}) {
  return {.tensor = object, .storage = storage, .device = device};
}

class TensorIdsTest : public ::testing::Test {
 protected:
  // An op at `time` that takes these tensors.
  Maker::Id op(std::int64_t time, const std::vector<TensorIdentity>& tensors) {
    const Maker::Id id = make_.op("aten::op", time, 1);
    make_.inputs(id, std::vector<Input>(tensors.size(), tensor_of({4})), tensors);
    return id;
  }
  void finish() {
    recording_ = make_.finish();
    ids_.emplace(recording_);
  }
  std::vector<TensorNumbers> numbers(Maker::Id id) const {
    const auto found = ids_->of_inputs(make_.new_index()[id]);
    return {found.begin(), found.end()};
  }

  IdentifiedMaker make_;
  trace::Recording recording_;
  std::optional<TensorIds> ids_;
};

TEST_F(TensorIdsTest, ViewsOfOneStorageAreOneTensor) {
  const auto a = op(1, {tensor(10, 100), tensor(11, 100)});
  const auto b = op(2, {tensor(12, 200)});
  finish();
  EXPECT_EQ(numbers(a), (std::vector<TensorNumbers>{{0, 1}, {0, 1}}));
  EXPECT_EQ(numbers(b), (std::vector<TensorNumbers>{{1, 2}}));
}

TEST_F(TensorIdsTest, AnAddressThatWasFreedBelongsToAnotherTensorAfterwards) {
  make_.memory(1, 64, {}, 100);
  const auto first = op(2, {tensor(10, 100)});
  make_.memory(3, -64, {}, 100);
  make_.memory(4, 64, {}, 100);
  const auto second = op(5, {tensor(11, 100)});
  finish();
  EXPECT_EQ(numbers(first), (std::vector<TensorNumbers>{{0, 1}}));
  EXPECT_EQ(numbers(second), (std::vector<TensorNumbers>{{1, 2}}));
  EXPECT_EQ(ids_->of_report(0), (TensorNumbers{0, 1}));
  EXPECT_EQ(ids_->of_report(1), (TensorNumbers{0, 1}));
  EXPECT_EQ(ids_->of_report(2), (TensorNumbers{1, 2}));
}

TEST_F(TensorIdsTest, AnAddressThatIsAllocatedAgainWasReleasedWithoutAReport) {
  const auto older = op(1, {tensor(10, 100)});
  make_.memory(3, 64, {}, 100);
  const auto first = op(4, {tensor(11, 100)});
  make_.memory(5, 32, {}, 100);
  make_.memory(6, -32, {}, 100);
  finish();
  EXPECT_EQ(numbers(older), (std::vector<TensorNumbers>{{0, 1}}));
  EXPECT_EQ(numbers(first), (std::vector<TensorNumbers>{{1, 2}}));
  EXPECT_EQ(ids_->of_report(0), (TensorNumbers{1, 2}));
  EXPECT_EQ(ids_->of_report(1), (TensorNumbers{-1, 3}));
  EXPECT_EQ(ids_->of_report(2), (TensorNumbers{-1, 3}));
  EXPECT_EQ(ids_->unreported_releases(), (std::vector<UnreportedRelease>{{1, 3}, {2, 5}}));
}

TEST_F(TensorIdsTest, ATensorWhoseStorageIsExchangedStaysTheSame) {
  const auto before = op(1, {tensor(10, 100)});
  const auto other = op(2, {tensor(11, 300)});
  const auto after = op(3, {tensor(10, 200)});
  finish();
  EXPECT_EQ(numbers(before), (std::vector<TensorNumbers>{{0, 1}}));
  EXPECT_EQ(numbers(after), (std::vector<TensorNumbers>{{0, 3}}));
  EXPECT_EQ(numbers(other), (std::vector<TensorNumbers>{{1, 2}}));
}

TEST_F(TensorIdsTest, GroupsThatMeetLaterAreOne) {
  const auto a = op(1, {tensor(10, 100)});
  const auto b = op(2, {tensor(11, 200)});
  const auto joined = op(3, {tensor(10, 300), tensor(11, 300)});
  finish();
  EXPECT_EQ(numbers(a)[0].tensor, 0);
  EXPECT_EQ(numbers(b)[0].tensor, 0);
  EXPECT_EQ(numbers(joined), (std::vector<TensorNumbers>{{0, 3}, {0, 3}}));
}

TEST_F(TensorIdsTest, MemoryInWhichNoTensorIsSeenHasAnAllocationOnly) {
  make_.memory(1, 64, {}, 100);
  make_.memory(2, -64, {}, 100);
  finish();
  EXPECT_EQ(ids_->of_report(0), (TensorNumbers{-1, 1}));
  EXPECT_EQ(ids_->of_report(1), (TensorNumbers{-1, 1}));
}

TEST_F(TensorIdsTest, OneAddressOnTwoDevicesIsTwoAllocations) {
  const auto both = op(1, {tensor(10, 100), tensor(11, 100, kNpu0)});
  finish();
  EXPECT_EQ(numbers(both), (std::vector<TensorNumbers>{{0, 1}, {1, 2}}));
}

TEST_F(TensorIdsTest, TensorsOfListsCountAndThoseThatAreNotIdentifiedHaveNoNumbers) {
  const auto list = make_.op("aten::cat", 1, 1);
  make_.inputs(list,
               {{.kind = Input::Kind::kInt, .integer = 3},
                {.kind = Input::Kind::kTensorList, .list = {tensor_of({4}), tensor_of({4}), tensor_of({4})}}},
               {tensor(10, 100), {}, tensor(11, 200)});
  const auto none = op(2, {});
  const auto without_row = make_.op("aten::other", 3, 1);
  finish();
  EXPECT_EQ(numbers(list), (std::vector<TensorNumbers>{{0, 1}, {-1, -1}, {1, 2}}));
  EXPECT_TRUE(numbers(none).empty());
  EXPECT_TRUE(numbers(without_row).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
