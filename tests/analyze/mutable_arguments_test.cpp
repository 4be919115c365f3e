// Written arguments: the rules of names and their exceptions.
#include "mindtorch/analyze/mutable_arguments.h"

#include <gtest/gtest.h>

#include <vector>

namespace mindtorch::analyze {
namespace {

// The positions of the written ones among five arguments.
std::vector<std::size_t> written(std::string_view name, std::string_view overload = {}) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < 5; ++k)
    if (writes_argument({name, overload, 5}, k)) found.push_back(k);
  return found;
}

TEST(MutableArguments, AnOpWithASchemaHasANamespaceAndAWord) {
  for (const char* name : {"aten::add", "aten::_foreach_add_", "torchvision::nms", "aten::__iand__"}) EXPECT_TRUE(is_schema_name(name));
  for (const char* name : {"detach", "aten::", "::add", "", "autograd::engine::evaluate_function: AddBackward0",
                           "torch.distributed.ddp.reducer::copy_bucket_to_grad", "Optimizer.step#SGD.step"})
    EXPECT_FALSE(is_schema_name(name)) << name;
}

TEST(MutableArguments, AnOpInPlaceWritesItsFirst) {
  EXPECT_EQ(written("aten::add_", "Tensor"), (std::vector<std::size_t>{0}));
  EXPECT_EQ(written("aten::_foreach_lerp_"), (std::vector<std::size_t>{0}));
  EXPECT_EQ(written("aten::__ior__"), (std::vector<std::size_t>{0}));
}

TEST(MutableArguments, OtherOpsWriteNone) {
  for (const char* name : {"aten::add", "aten::native_batch_norm", "aten::__is__", "aten::__and__", "c10d::allreduce_"})
    EXPECT_EQ(written(name), std::vector<std::size_t>{}) << name;
}

TEST(MutableArguments, TheGivenResultIsTheLast) {
  EXPECT_EQ(written("aten::mm", "out"), (std::vector<std::size_t>{4}));
  EXPECT_EQ(written("aten::sum", "IntList_out"), (std::vector<std::size_t>{4}));
  EXPECT_EQ(written("aten::addcmul"), (std::vector<std::size_t>{4})) << "five arguments tell";
  EXPECT_EQ(written("aten::addcmul", "unknown"), std::vector<std::size_t>{});
  EXPECT_FALSE(writes_argument({"aten::add", {}, 3}, 2));
  EXPECT_TRUE(writes_argument({"aten::add", {}, 4}, 3));
  EXPECT_FALSE(writes_argument({"aten::d", {}, 4}, 3)) << "only a part of a name";
  EXPECT_TRUE(writes_argument({"aten::sqrt", {}, 2}, 1)) << "rsqrt is listed too";
  EXPECT_TRUE(writes_argument({"aten::softmax", {}, 4}, 3)) << "log_softmax is listed too";
  EXPECT_TRUE(writes_argument({"aten::norm", {}, 6}, 5)) << "linalg_vector_norm is listed too";
}

TEST(MutableArguments, SomeOpsWriteOthers) {
  EXPECT_EQ(written("aten::_fused_adam_"), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(written("aten::_native_batch_norm_legit"), (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(written("aten::_no_grad_embedding_renorm_"), std::vector<std::size_t>{});
  EXPECT_FALSE(writes_argument({"aten::_fused_adam_", {}, 40}, 35));
}

}  // namespace
}  // namespace mindtorch::analyze
