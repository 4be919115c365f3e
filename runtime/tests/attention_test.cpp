// Attention against a reference in double, its masks, and its derivatives.
#include "mindtorch/runtime/ops/attention.h"

#include "mindtorch/record/session.h"
#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

// One head: q [n, d], k [m, d], v [m, e]; bias [n, m] is added to the scores.
std::vector<double> naive_attention(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v, std::size_t n,
                                    std::size_t m, const std::function<double(std::size_t, std::size_t)>& bias, double scale) {
  const std::size_t d = q.size() / n, e = v.size() / m;
  std::vector<double> out(n * e);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> weights(m);
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      double score = bias(i, j);
      for (std::size_t c = 0; c < d; ++c) score += q[i * d + c] * k[j * d + c] * scale;
      sum += weights[j] = std::exp(score);
    }
    for (std::size_t j = 0; j < m && sum > 0; ++j)
      for (std::size_t c = 0; c < e; ++c) out[i * e + c] += weights[j] / sum * v[j * e + c];
  }
  return out;
}

struct Heads {
  Tensor query, key, value;  // [batch, heads, length, width]
};
Heads heads(ScalarType type) {
  return {test_input({2, 3, 4, 5}, type, 1), test_input({2, 3, 6, 5}, type, 2), test_input({2, 3, 6, 7}, type, 3)};
}

std::vector<double> expected_of(const Heads& h, const std::function<double(std::size_t, std::size_t)>& bias, double scale) {
  std::vector<double> all;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto part = [&](const Tensor& tensor) { return tensor.select(0, b).select(0, i).to_vector<double>(); };
      const std::vector<double> one = naive_attention(part(h.query), part(h.key), part(h.value), 4, 6, bias, scale);
      all.insert(all.end(), one.begin(), one.end());
    }
  return all;
}

const double kRootFifth = 1 / std::sqrt(5.0);
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

TEST(Attention, MatchesTheReference) {
  for (const ScalarType type : {kFloat32, kFloat64}) {
    const Heads h = heads(type);
    const double tolerance = 2 * tolerance_of(type);
    const auto none = [](std::size_t, std::size_t) { return 0.0; };
    EXPECT_TRUE(is_close(scaled_dot_product_attention(h.query, h.key, h.value), expected_of(h, none, kRootFifth), tolerance));
    EXPECT_TRUE(is_close(scaled_dot_product_attention(h.query, h.key, h.value, {.scale = 0.3}), expected_of(h, none, 0.3), tolerance));
    EXPECT_TRUE(is_close(scaled_dot_product_attention(strided_copy(h.query), strided_copy(h.key), strided_copy(h.value)),
                         expected_of(h, none, kRootFifth), tolerance));
    const auto causal = [](std::size_t i, std::size_t j) { return j > i ? kMinusInfinity : 0.0; };
    EXPECT_TRUE(is_close(scaled_dot_product_attention(h.query, h.key, h.value, {.is_causal = true}), expected_of(h, causal, kRootFifth),
                         tolerance));
  }
}

TEST(Attention, MasksOfBothKindsAreKeptTo) {
  const Heads h = heads(kFloat64);
  const auto may = [](std::size_t i, std::size_t j) { return (i + j) % 3 != 0; };
  std::vector<std::uint8_t> allowed;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 6; ++j) allowed.push_back(may(i, j));
  const Tensor mask = tensor<std::uint8_t>(allowed, {4, 6}).to(kBool);
  const auto bias = [&](std::size_t i, std::size_t j) { return may(i, j) ? 0 : kMinusInfinity; };
  EXPECT_TRUE(
      is_close(scaled_dot_product_attention(h.query, h.key, h.value, {.attn_mask = mask}), expected_of(h, bias, kRootFifth), 1e-12));
  const Tensor added = test_input({4, 6}, kFloat64, 9);
  const std::vector<double> values = added.to_vector<double>();
  EXPECT_TRUE(is_close(scaled_dot_product_attention(h.query, h.key, h.value, {.attn_mask = added}),
                       expected_of(
                           h, [&](std::size_t i, std::size_t j) { return values[i * 6 + j]; }, kRootFifth),
                       1e-12));
}

TEST(Attention, AQueryThatMayLookNowhereGetsZeros) {
  const Heads h = heads(kFloat64);
  const Tensor nowhere = zeros({4, 6}, {.dtype = kBool});
  const Tensor query = h.query.clone().requires_grad_();
  const Tensor out = scaled_dot_product_attention(query, h.key, h.value, {.attn_mask = nowhere});
  EXPECT_TRUE(is_close(out, std::vector<double>(2 * 3 * 4 * 7, 0), 0));
  out.sum().backward();
  EXPECT_TRUE(is_close(query.grad(), std::vector<double>(2 * 3 * 4 * 5, 0), 0));
}

TEST(Attention, DropoutScalesWhatItKeeps) {
  manual_seed(5);
  const Tensor q = zeros({1, 1, 200, 4}), v = ones({1, 1, 100, 1});
  const Tensor out = scaled_dot_product_attention(q, zeros({1, 1, 100, 4}), v, {.dropout_p = 0.5});
  EXPECT_NEAR(out.mean().item<double>(), 1, 0.05);
  EXPECT_GT(out.to_vector<double>()[0], 0);
  EXPECT_FALSE(is_close(out, std::vector<double>(200, 1), 1e-3));
}

TEST(Attention, DerivativesMatchFiniteDifferences) {
  const TensorVector inputs = {gradcheck_input({1, 2, 3, 2}, 1), gradcheck_input({1, 2, 3, 2}, 2), gradcheck_input({1, 2, 3, 3}, 3)};
  const Tensor mask = tensor({true, false, true, true, true, false, true, true, true}).reshape({3, 3});
  for (const AttentionOptions& options : {AttentionOptions{}, AttentionOptions{.is_causal = true}, AttentionOptions{.attn_mask = mask}})
    EXPECT_TRUE(
        gradcheck_twice([&](const TensorVector& in) { return scaled_dot_product_attention(in[0], in[1], in[2], options); }, inputs));
  EXPECT_TRUE(
      gradcheck_twice([&](const TensorVector& in) { return scaled_dot_product_attention(in[0], in[1], in[2], {.attn_mask = in[3]}); },
                      {inputs[0], inputs[1], inputs[2], gradcheck_input({3, 3}, 4)}));
}

TEST(Attention, ItsPartsAreRecordedInsideOfIt) {
  const Heads h = heads(kFloat32);
  scaled_dot_product_attention(h.query, h.key, h.value);
  const auto session = record::Session::prepare({});
  session->start();
  scaled_dot_product_attention(h.query, h.key, h.value);
  const trace::Recording recording = session->stop();
  const auto& events = recording.events;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < events.size(); ++i) {
    names.push_back(recording.names[events.name[i]]);
    EXPECT_LE(events.end_ns(static_cast<trace::EventIndex>(i)), events.end_ns(0));
  }
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names[0], "aten::scaled_dot_product_attention");
  EXPECT_EQ(names[1], "aten::_scaled_dot_product_attention_math");
  for (const char* part : {"aten::mul", "aten::transpose", "aten::matmul", "aten::bmm", "aten::_safe_softmax"})
    EXPECT_THAT(names, ::testing::Contains(part));
}

TEST(Attention, RefusesWhatTorchRefuses) {
  const Heads h = heads(kFloat32);
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(h.query, h.key.to(kFloat64), h.value); }),
              HasSubstr("Expected query, key, and value to have the same dtype"));
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(ones({3}), h.key, h.value); }), HasSubstr("at least 2 dimensional"));
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(h.query, h.value, h.value); }), HasSubstr("do not fit together"));
  EXPECT_THAT(error_of([&] {
                scaled_dot_product_attention(h.query, h.key, h.value, {.attn_mask = ones({4, 6}, {.dtype = kBool}), .is_causal = true});
              }),
              HasSubstr("Explicit attn_mask should not be set when is_causal=True"));
  EXPECT_THAT(error_of([&] {
                scaled_dot_product_attention(h.query, h.key, h.value, {.attn_mask = ones({4, 6}, {.dtype = kInt64})});
              }),
              HasSubstr("Expected attn_mask dtype to be bool or to match query dtype"));
}

}  // namespace
}  // namespace mindtorch
