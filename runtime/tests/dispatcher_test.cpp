// Tests of dispatch keys, the library of ops, and what every call goes through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(DispatchKeys, PriorityIsTheOrderOfTheNames) {
  const DispatchKeySet keys{DispatchKey::kCpu, DispatchKey::kAutogradCpu, DispatchKey::kNpu};
  EXPECT_EQ(keys.highest(), DispatchKey::kAutogradCpu);
  EXPECT_EQ((keys - kAutogradKeys).highest(), DispatchKey::kNpu);
  EXPECT_EQ(dispatch_key_name(DispatchKey::kAutogradNpu), "AutogradNPU");
  EXPECT_EQ(dispatch_key_name(DispatchKey::kPrivateUse3), "PrivateUse3");
}

TEST(DispatchKeys, ATensorBringsItsBackendAndAutogradIfNeeded) {
  EXPECT_EQ(ones({1}).impl()->keys(), DispatchKeySet(DispatchKey::kCpu));
  EXPECT_TRUE(ones({1}, {.requires_grad = true}).impl()->keys().has(DispatchKey::kAutogradCpu));
}

// An op whose kernels leave a trace.
std::vector<std::string> trace;
Tensor traced_cpu(const Tensor& self) {
  trace.push_back("cpu");
  return self;
}
Tensor traced_functionalize(DispatchKeySet keys, const Tensor& self);
constinit Op<Tensor(const Tensor&)> traced_op{"test::traced(Tensor self) -> Tensor"};
Tensor traced_functionalize(DispatchKeySet keys, const Tensor& self) {
  trace.push_back("functionalize");
  return traced_op.redispatch(keys - DispatchKeySet(DispatchKey::kFunctionalize), self);
}
constinit Op<Tensor(const Tensor&)> composite_op{"test::composite(Tensor self) -> Tensor"};
Tensor composite(const Tensor& self) { return self * self + 1; }
constinit Op<Tensor(const Tensor&)> underivable_op{"test::underivable(Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&)> wrong_op{"test::wrong(Tensor self, int dim) -> Tensor"};

Library& test_library() {
  static const bool defined = [] {
    Library& library = Library::get();
    library.define<traced_op>().kernel<traced_cpu>().kernel<traced_functionalize>(DispatchKey::kFunctionalize).not_differentiable();
    library.define<composite_op>().composite<composite>();
    library.define<underivable_op>().kernel<traced_cpu>();
    return true;
  }();
  static_cast<void>(defined);
  return Library::get();
}

TEST(Dispatcher, IncludedKeysAreVisitedAndExcludedOnesAreNot) {
  test_library();
  trace.clear();
  const Tensor x = ones({1});
  traced_op(x);
  {
    IncludeKeys include(DispatchKey::kFunctionalize);
    traced_op(x);
    ExcludeKeys exclude(DispatchKey::kFunctionalize);
    traced_op(x);
  }
  EXPECT_THAT(trace, ElementsAre("cpu", "functionalize", "cpu", "cpu"));
}

TEST(Dispatcher, ACompositeIsDifferentiatedByItsParts) {
  test_library();
  const Tensor x = full({1}, 3.0, {.requires_grad = true});
  composite_op(x).backward();
  EXPECT_EQ(x.grad().item<double>(), 6);
}

TEST(Dispatcher, AnOpWithoutDerivativeSaysSoOnlyWhenOneIsNeeded) {
  test_library();
  EXPECT_NO_THROW(underivable_op(ones({1})));
  EXPECT_THAT(error_of([] { underivable_op(ones({1}, {.requires_grad = true})); }),
              HasSubstr("derivative for test::underivable is not implemented"));
}

TEST(Dispatcher, DefiningTwiceOrAgainstTheSignatureIsRefused) {
  test_library();
  EXPECT_THAT(error_of([] { Library::get().define<traced_op>(); }), HasSubstr("test::traced is defined already"));
  EXPECT_THAT(error_of([] { Library::get().define<wrong_op>(); }), HasSubstr("the C++ signature does not match the schema"));
}

TEST(Dispatcher, ADeviceKernelReplacesTheGeneralOneAndGoesAgain) {
  Library& library = test_library();
  trace.clear();
  library.set_kernel(
      "test::traced", DispatchKey::kCpu, +[](DispatchKeySet, const Tensor& self) -> Tensor {
        trace.push_back("other");
        return self;
      });
  traced_op(ones({1}));
  library.set_kernel("test::traced", DispatchKey::kCpu, static_cast<Tensor (*)(DispatchKeySet, const Tensor&)>(nullptr));
  traced_op(ones({1}));
  EXPECT_THAT(trace, ElementsAre("other", "cpu"));
  EXPECT_THAT(error_of([&] {
                library.set_kernel(
                    "test::traced", DispatchKey::kCpu, +[](DispatchKeySet, std::int64_t) -> Tensor { return {}; });
              }),
              HasSubstr("signature is not that of"));
  EXPECT_THAT(error_of([&] {
                library.set_kernel(
                    "test::none", DispatchKey::kCpu, +[](DispatchKeySet, const Tensor& t) -> Tensor { return t; });
              }),
              HasSubstr("there is no op test::none"));
}

TEST(Dispatcher, BoxedCallsFillInDefaultsAndCheckTypes) {
  OpBase* add = Library::get().find("aten::add.Tensor");
  ASSERT_NE(add, nullptr);
  const Tensor x = full({2}, 3.0), y = full({2}, 4.0);
  EXPECT_THAT(std::get<Tensor>(add->call_boxed(ValueVector{x, y})[0]).to_vector<double>(), ElementsAre(7, 7));
  EXPECT_THAT(std::get<Tensor>(add->call_boxed(ValueVector{x, y, std::int64_t{2}})[0]).to_vector<double>(), ElementsAre(11, 11));
  EXPECT_THAT(error_of([&] { add->call_boxed(ValueVector{x}); }), HasSubstr("missing argument 'other'"));
  EXPECT_THAT(error_of([&] {
                add->call_boxed(ValueVector{x, 1.5});
              }),
              HasSubstr("argument 'other' (position 2) must be Tensor, not float"));
  EXPECT_EQ(Library::get().find("aten::nothing"), nullptr);
}

TEST(Dispatcher, BoxedCallsTakeGenerators) {
  OpBase* uniform = Library::get().find("aten::uniform_");
  ASSERT_NE(uniform, nullptr);
  const auto draw = [&](Value generator) {
    const Tensor x = zeros({3});
    uniform->call_boxed(ValueVector{x, 0.0, 1.0, std::move(generator)});
    return x.to_vector<double>();
  };
  Generator first(5), second(5);
  const std::vector<double> numbers = draw(&first);
  EXPECT_EQ(numbers, draw(&second));
  EXPECT_NE(numbers, draw(&second));
  EXPECT_NE(numbers, draw(std::monostate()));
  EXPECT_THAT(error_of([&] { draw(1.5); }), HasSubstr("argument 'generator' (position 4) must be Generator?, not float"));
}

TEST(Dispatcher, AWriteBumpsTheVersionSharedByViews) {
  const Tensor x = zeros({4});
  const Tensor view = x.view({2, 2});
  const std::uint32_t before = x.version();
  view.add_(1);
  x.mul_(x);
  EXPECT_EQ(x.version(), before + 2);
  EXPECT_EQ(view.version(), before + 2);
  x + view.view({4});
  EXPECT_EQ(x.version(), before + 2);
}

TEST(Dispatcher, ADeviceWithoutBackendIsAClearError) {
  EXPECT_THAT(error_of([] { ones({1}, {.device = "cuda"}); }), HasSubstr("device 'cuda:0' cannot be used"));
  EXPECT_THAT(error_of([] { Device("tpu"); }), HasSubstr("Invalid device string: 'tpu'"));
}

}  // namespace
}  // namespace mindtorch
