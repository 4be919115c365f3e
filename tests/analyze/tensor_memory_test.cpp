// Tensors among arguments, those that modules and optimizers own, and what the timeline makes of them.
#include "mindtorch/analyze/tensor_memory.h"

#include <gtest/gtest.h>

#include <optional>

#include "mindtorch/analyze/memory_timeline.h"
#include "tests/analyze/identified_inputs.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::Input;
using trace::MemoryCategory;

// An argument, and which tensor it is.
struct Item {
  Input input;
  std::optional<trace::TensorIdentity> identity;
};
Item tensor(std::uint64_t storage, std::vector<std::int64_t> sizes, std::int64_t offset = 0, std::vector<std::int64_t> strides = {}) {
  return {tensor_of(std::move(sizes), std::move(strides)),
          trace::TensorIdentity{.tensor = storage + 1, .storage = storage, .offset = offset}};
}
Item number(std::int64_t value) { return {{.kind = Input::Kind::kInt, .integer = value}, {}}; }
const Item kNone{{.kind = Input::Kind::kNone}, {}};

void add(IdentifiedMaker& make, EventKind kind, std::int64_t time, const std::vector<Item>& row) {
  std::vector<Input> inputs;
  std::vector<trace::TensorIdentity> identities;
  for (const Item& item : row) {
    inputs.push_back(item.input);
    if (item.identity) identities.push_back(*item.identity);
  }
  make.inputs(make.op("aten::event", time, 1, kind), inputs, identities);
}

Item text(IdentifiedMaker& make, std::string_view value) {
  return {{.kind = Input::Kind::kText, .text = make.builder().intern(value)}, {}};
}

// The argument and the purpose of each owned tensor of the first event.
std::vector<std::pair<std::size_t, MemoryCategory>> owned(const trace::Recording& recording) {
  const TensorIds ids(recording);
  TensorReader reader(recording, ids);
  EXPECT_TRUE(reader.read(0));
  std::vector<std::pair<std::size_t, MemoryCategory>> found;
  for (const SeenTensor& seen : reader.tensors()) found.emplace_back(seen.argument, seen.owned_as);
  return found;
}

TEST(TensorMemory, ATensorReachesToTheLastElement) {
  IdentifiedMaker make;
  add(make, EventKind::kOp, 3, {tensor(300, {}), tensor(400, {0, 5}), kNone});
  add(make, EventKind::kOp, 5, {tensor(100, {2, 3}, 4), tensor(200, {4, 2}, 0, {1, 100})});
  const trace::Recording recording = make.finish();
  const TensorIds ids(recording);
  TensorReader reader(recording, ids);
  std::vector<std::int64_t> bytes;
  for (const trace::EventIndex event : {0u, 1u}) {
    EXPECT_TRUE(reader.read(event));
    for (const SeenTensor& seen : reader.tensors()) bytes.push_back(seen.bytes);
  }
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4, 0, (4 + 6) * 4, (3 + 100 + 1) * 4}));
}

TEST(TensorMemory, TensorsOfAListAreOneArgument) {
  IdentifiedMaker make;
  const Input list{.kind = Input::Kind::kTensorList, .list = {tensor_of({2}), tensor_of({2})}};
  make.inputs(make.op("aten::event", 5, 1), {list, tensor_of({2})},
              {{.tensor = 1, .storage = 100}, {.tensor = 2, .storage = 0}, {.tensor = 3, .storage = 300}});
  const trace::Recording recording = make.finish();
  const TensorIds ids(recording);
  TensorReader reader(recording, ids);
  ASSERT_TRUE(reader.read(0));
  EXPECT_EQ(reader.arguments(), 2u);
  ASSERT_EQ(reader.tensors().size(), 2u) << "one has no storage";
  EXPECT_EQ(reader.tensors()[0].argument, 0u);
  EXPECT_EQ(reader.tensors()[1].argument, 1u);
}

TEST(TensorMemory, ModulesOwnParametersAndGradients) {
  IdentifiedMaker make;
  const Item weight = text(make, "weight"), bias = text(make, "bias");
  add(make, EventKind::kModule, 5, {number(1), number(2), weight, tensor(100, {2}), tensor(200, {2}), bias, tensor(300, {2}), kNone});
  EXPECT_EQ(owned(make.finish()), (std::vector<std::pair<std::size_t, MemoryCategory>>{
                                      {3, MemoryCategory::kParameter}, {4, MemoryCategory::kGradient}, {6, MemoryCategory::kParameter}}));
}

TEST(TensorMemory, OptimizersOwnTheirState) {
  IdentifiedMaker make;
  const Item step = text(make, "step"), average = text(make, "exp_avg");
  add(make, EventKind::kPythonFunction, 5,
      {number(1), number(2), tensor(100, {2}), tensor(200, {2}), number(2), step, tensor(300, {}), average, tensor(400, {2}),
       tensor(500, {2}), kNone, number(0)});
  EXPECT_EQ(owned(make.finish()), (std::vector<std::pair<std::size_t, MemoryCategory>>{{2, MemoryCategory::kParameter},
                                                                                       {3, MemoryCategory::kGradient},
                                                                                       {6, MemoryCategory::kOptimizerState},
                                                                                       {8, MemoryCategory::kOptimizerState},
                                                                                       {9, MemoryCategory::kParameter}}));
}

TEST(TensorMemory, TheTimelineHasWhatExistedBeforeWithItsPurpose) {
  IdentifiedMaker make;
  const Item weight = text(make, "weight");
  add(make, EventKind::kModule, 5, {number(1), number(2), weight, tensor(0x100, {8}), kNone});
  add(make, EventKind::kOp, 6, {tensor(0x100, {8}), tensor(0x200, {4})});
  add(make, EventKind::kOp, 20, {tensor(0x300, {2})});
  make.memory(7, 64, {}, 0x400);
  add(make, EventKind::kOp, 30, {tensor(0x400, {16})});
  const trace::Recording recording = make.finish();
  const MemoryTimeline timeline = memory_timeline(Analysis(recording), {});
  std::vector<std::pair<std::int64_t, MemoryCategory>> before;
  for (const MemoryEntry& entry : timeline.entries)
    if (entry.action == MemoryAction::kPreexisting) before.emplace_back(entry.bytes, entry.category);
  EXPECT_EQ(before, (std::vector<std::pair<std::int64_t, MemoryCategory>>{
                        {32, MemoryCategory::kParameter}, {16, MemoryCategory::kInput}, {8, MemoryCategory::kUnknown}}));
}

TEST(TensorMemory, AParameterThatIsMadeInTheRecordingIsAParameterFromItsAllocationOn) {
  IdentifiedMaker make;
  const Item weight = text(make, "weight");
  make.memory(2, 32, {}, 0x100);
  add(make, EventKind::kModule, 5, {number(1), number(2), weight, tensor(0x100, {8}), kNone});
  const trace::Recording recording = make.finish();
  const MemoryTimeline timeline = memory_timeline(Analysis(recording), {});
  ASSERT_EQ(timeline.entries.size(), 1u);
  EXPECT_EQ(timeline.entries[0].action, MemoryAction::kCreate);
  EXPECT_EQ(timeline.entries[0].category, MemoryCategory::kParameter);
}

TEST(TensorMemory, ElementsHaveTheirSizes) {
  EXPECT_EQ(element_bytes(trace::ScalarType::kBool), 1);
  EXPECT_EQ(element_bytes(trace::ScalarType::kBFloat16), 2);
  EXPECT_EQ(element_bytes(trace::ScalarType::kFloat), 4);
  EXPECT_EQ(element_bytes(trace::ScalarType::kInt64), 8);
  EXPECT_EQ(element_bytes(static_cast<trace::ScalarType>(10)), 16);  // complex128
  EXPECT_EQ(element_bytes(trace::ScalarType::kOther), 0);
}

}  // namespace
}  // namespace mindtorch::analyze
