// Elementary functions the compiler can vectorise: no branches, no calls. The float versions are exact to about 2e-7 relative (erf and tanh
// too, near zero); double versions are the C library's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mindtorch::cpu::math {

// 2^n for n in [-126, 127], by writing the exponent.
inline float power_of_two(float n) { return std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23); }

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
  const float clamped = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;  // NaN passes
  float n;
  const float fraction = 1.0f + reduced_expm1(clamped, n);
  // Two factors, because results may be subnormal or infinite where 2^n alone is not representable.
  const float half = static_cast<float>(static_cast<std::int32_t>(n) >> 1);
  const float result = fraction * power_of_two(half) * power_of_two(n - half);
  return x != x ? x : result;
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

// Up to 1 the Taylor series, above 1 - exp(-x^2) times a fitted polynomial in 1 / (1 + x / 2).
inline float erf(float x) {
  const float magnitude = std::abs(x);
  const float square = x * x;
  float near = 1.0f / 76204800;
  near = near * -square + 1.0f / 6894720;
  near = near * -square + 1.0f / 685440;
  near = near * -square + 1.0f / 75600;
  near = near * -square + 1.0f / 9360;
  near = near * -square + 1.0f / 1320;
  near = near * -square + 1.0f / 216;
  near = near * -square + 1.0f / 42;
  near = near * -square + 1.0f / 10;
  near = near * -square + 1.0f / 3;
  near = near * -square + 1.0f;
  near = near * 1.12837917f * x;

  const float limited = magnitude > 4.2f ? 4.2f : magnitude;  // erf(4.2) is 1 in float
  const float t = 1.0f / (1.0f + 0.5f * limited);
  float far = -2.306258004e-01f;
  far = far * t + 6.361713850e-01f;
  far = far * t + -6.387404892e-02f;
  far = far * t + 3.964649384e-01f;
  far = far * t + 2.597971735e-01f;
  far = far * t + 1.811457621e-03f;
  far = std::copysign(1.0f - far * exp(-limited * limited), x);
  return x != x ? x : magnitude < 1.0f ? near : far;
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
