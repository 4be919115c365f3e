// Tests of the schema parser.
#include "mindtorch/runtime/dispatch/schema.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"

namespace mindtorch {
namespace {

using Base = SchemaType::Base;

TEST(Schema, ReadsNameOverloadAndArguments) {
  const FunctionSchema schema = FunctionSchema::parse("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(schema.name, "aten::add");
  EXPECT_EQ(schema.overload, "Tensor");
  EXPECT_EQ(schema.full_name(), "aten::add.Tensor");
  ASSERT_EQ(schema.arguments.size(), 3u);
  EXPECT_EQ(schema.arguments[1].name, "other");
  EXPECT_FALSE(schema.arguments[1].keyword_only);
  EXPECT_TRUE(schema.arguments[2].keyword_only);
  EXPECT_EQ(std::get<std::int64_t>(schema.arguments[2].default_value), 1);
  EXPECT_FALSE(schema.is_mutable());
  EXPECT_FALSE(schema.is_view());
}

TEST(Schema, ReadsAliasAndMutation) {
  const FunctionSchema in_place =
      FunctionSchema::parse("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  EXPECT_TRUE(in_place.is_mutable());
  EXPECT_EQ(in_place.mutated_arguments(), 1u);
  EXPECT_FALSE(in_place.is_view());
  const FunctionSchema view = FunctionSchema::parse("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
  EXPECT_TRUE(view.is_view());
  EXPECT_FALSE(view.is_mutable());
  EXPECT_EQ(view.results[0].type, (SchemaType{Base::kTensor, true, false}));
}

TEST(Schema, ReadsEveryKindOfTypeAndDefault) {
  const FunctionSchema schema = FunctionSchema::parse(
      "aten::f(Tensor? a, Tensor[] b, int[2] c=[1, 2], int[1]? d=None, float e=1e-5, bool f=True, str? g='tanh', SymInt[2] h=0, int "
      "i=Mean, *, "
      "MemoryFormat? j=None, Device? k=None, Scalar l=0.5) -> (Tensor values, Tensor indices)");
  const auto& a = schema.arguments;
  EXPECT_EQ(a[0].type, (SchemaType{Base::kTensor, false, true}));
  EXPECT_EQ(a[1].type, (SchemaType{Base::kTensor, true, false}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(a[2].default_value), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(a[3].type, (SchemaType{Base::kInt, true, true}));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(a[3].default_value));
  EXPECT_EQ(std::get<double>(a[4].default_value), 1e-5);
  EXPECT_TRUE(std::get<bool>(a[5].default_value));
  EXPECT_EQ(std::get<std::string>(a[6].default_value), "tanh");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(a[7].default_value), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(std::get<std::int64_t>(a[8].default_value), 1);
  EXPECT_EQ(std::get<double>(a[11].default_value), 0.5);
  ASSERT_EQ(schema.results.size(), 2u);
  EXPECT_EQ(schema.results[1].name, "indices");
}

TEST(Schema, TellsAListOfOptionalTensorsFromAnOptionalList) {
  const FunctionSchema schema = FunctionSchema::parse("aten::f(Tensor?[] a, Tensor[]? b) -> Tensor");
  EXPECT_EQ(schema.arguments[0].type, (SchemaType{Base::kTensor, true, false, true}));
  EXPECT_EQ(schema.arguments[1].type, (SchemaType{Base::kTensor, true, true, false}));
  EXPECT_EQ(schema.str(), "aten::f(Tensor?[] a, Tensor[]? b) -> Tensor");
}

TEST(Schema, WritesWhatItRead) {
  for (const char* text : {"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
                           "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                           "aten::sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"})
    EXPECT_EQ(FunctionSchema::parse(text).str(), text);
}

TEST(Schema, NamesThePlaceOfAMistake) {
  for (const char* text : {"", "add(Tensor a) -> Tensor", "aten::add(Tensor a", "aten::add(Tensr a) -> Tensor",
                           "aten::add(Tensor) -> Tensor", "aten::add(Tensor a) Tensor", "aten::add(int a=x) -> Tensor",
                           "aten::add(Tensor a) -> Tensor b", "aten::add(Tensor(a b) -> Tensor", "aten::add(Tensor a Tensor b) -> Tensor"})
    EXPECT_THROW(FunctionSchema::parse(text), InvalidArgument) << text;
}

}  // namespace
}  // namespace mindtorch
