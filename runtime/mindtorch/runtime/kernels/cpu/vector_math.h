// Elementary functions the compiler can vectorise: no branches, no calls. The float versions are exact to about 2e-7 relative (erf and tanh
// too, near zero); double versions are the C library's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mindtorch::cpu::math {

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
inline float polynomial(const float (&c)[N], float x) {
  float value = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) value = value * x + c[i];
  return value;
}

// condition ? a : b. By bits, because a compiler that sees a choice computes only one side, behind a branch, and no longer vectorises.
inline float choose(bool condition, float a, float b) {
  const std::int32_t mask = -static_cast<std::int32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<std::int32_t>(a) & mask) | (std::bit_cast<std::int32_t>(b) & ~mask));
}

// 2^n for n in [-126, 127], by writing the exponent.
inline float power_of_two(std::int32_t n) { return std::bit_cast<float>((n + 127) << 23); }
inline float power_of_two(float n) { return power_of_two(static_cast<std::int32_t>(n)); }

// Splits x = n ln2 + r with |r| <= ln2 / 2 and returns expm1(r); Taylor to the seventh power.
inline float reduced_expm1(float x, float& n) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  n = (x * 1.44269504f + kRound) - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  return p * r * r + r;
}

inline float exp(float x) {
  // exp(x) = 2^n exp(r), |r| <= ln 2 / 2. Adding kRounding leaves the integer nearest to x / ln 2 in the low bits of the sum.
  constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23
  constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;
  constexpr float kTail[] = {4.999999345e-01f, 1.666652064e-01f, 4.166838793e-02f, 8.368715412e-03f, 1.381459986e-03f};
  x = x > 89.0f ? 89.0f : x;  // infinite from here on; NaN stays
  x = x < -104.0f ? -104.0f : x;
  const float shifted = x * 1.44269504f + kRounding;
  const float n = shifted - kRounding;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float mantissa = 1.0f + (r + r * r * polynomial(kTail, r));
  // Two factors, because 2^n alone leaves the range of float before the result does.
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounding);
  const std::int32_t half = exponent >> 1;
  return mantissa * power_of_two(half) * power_of_two(exponent - half);
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

// expm1(2|x|) / (expm1(2|x|) + 2): no cancellation near zero.
inline float tanh(float x) {
  const float twice = 2.0f * std::abs(x);
  const float clamped = twice > 40.0f ? 40.0f : twice;
  float n;
  const float fraction = reduced_expm1(clamped, n);
  const float scale = power_of_two(n);
  const float e = scale * fraction + (scale - 1.0f);
  const float result = std::copysign(e / (e + 2.0f), x);
  return x != x ? x : result;
}

// Two minimax fits, both computed and one chosen.
inline float erf(float x) {
  constexpr float kNear[] = {1.128379166e+00f, -3.761262582e-01f, 1.128358515e-01f, -2.685381187e-02f,
                             5.188327560e-03f, -8.010192516e-04f, 7.853857691e-05f};  // erf(x) / x as function of x^2, |x| < 1
  constexpr float kFar[] = {-2.564366570e-04f, -1.127426125e+00f, -6.375999706e-01f, -1.035669546e-01f,
                            2.205202906e-02f,  -2.999549036e-03f, 1.915050312e-04f};  // log(erfc(x)), 0.95 < x < 4
  const float magnitude = std::fabs(x);
  const float near_zero = magnitude * polynomial(kNear, x * x);
  const float far = 1.0f - exp(polynomial(kFar, magnitude > 4.0f ? 4.0f : magnitude));
  return std::copysign(choose(magnitude < 1.0f, near_zero, far), x);
}

// log(m 2^e) with m in [sqrt(1/2), sqrt(2)): e ln2 + 2 atanh((m - 1) / (m + 1)).
inline float log(float x) {
  const bool is_tiny = x < std::numeric_limits<float>::min();  // subnormal: scale into the normal range first
  const float scaled = is_tiny ? x * 8388608.0f : x;
  const std::int32_t bits = std::bit_cast<std::int32_t>(scaled);
  const std::int32_t shifted = bits - 0x3F3504F3;  // bits of sqrt(1/2): the exponent changes there
  const float e = static_cast<float>(shifted >> 23) - (is_tiny ? 23.0f : 0.0f);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFF) + 0x3F3504F3);
  const float f = m - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  float p = 1.0f / 11;
  p = p * z + 1.0f / 9;
  p = p * z + 1.0f / 7;
  p = p * z + 1.0f / 5;
  p = p * z + 1.0f / 3;
  const float tail = 2.0f * s * z * p;
  const float result = e * 0.693359375f + (f - s * f + tail + e * -2.12194440e-4f);
  const float special = x == 0.0f  ? -std::numeric_limits<float>::infinity()
                        : x < 0.0f ? std::numeric_limits<float>::quiet_NaN()
                                   : x;  // NaN and infinity
  return x > 0.0f && x < std::numeric_limits<float>::infinity() ? result : special;
}

inline double exp(double x) { return std::exp(x); }
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double log(double x) { return std::log(x); }

}  // namespace mindtorch::cpu::math
