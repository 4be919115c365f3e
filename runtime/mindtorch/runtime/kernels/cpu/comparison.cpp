// Kernels that compare and select.
#include "mindtorch/runtime/kernels/cpu/comparison.h"

#include "mindtorch/runtime/kernels/cpu/loops.h"

namespace mindtorch::cpu {

namespace {

template <class F>
void compare(ScalarType type, const LoopPlan<3>& plan, const F& f) {
  visit_types(type, [&]<class T>() { map_binary<bool, T>(plan, [&](T a, T b) { return f(a, b); }); });
}

template <class T>
bool is_nan(T x) {
  return x != x;
}

}  // namespace

void eq(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a == b; });
}
void ne(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a != b; });
}
void lt(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a < b; });
}
void le(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a <= b; });
}
void gt(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a > b; });
}
void ge(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return a >= b; });
}
void logical_and(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return static_cast<bool>(a) & static_cast<bool>(b); });
}
void logical_or(ScalarType type, const LoopPlan<3>& plan) {
  compare(type, plan, [](auto a, auto b) { return static_cast<bool>(a) | static_cast<bool>(b); });
}

void maximum(ScalarType type, const LoopPlan<3>& plan) {
  visit_types(type, [&]<class T>() { map_binary<T, T>(plan, [](T a, T b) { return is_nan(a) || a > b ? a : b; }); });
}
void minimum(ScalarType type, const LoopPlan<3>& plan) {
  visit_types(type, [&]<class T>() { map_binary<T, T>(plan, [](T a, T b) { return is_nan(a) || a < b ? a : b; }); });
}

void where(ScalarType type, const LoopPlan<4>& plan) {
  visit_types(type, [&]<class T>() { map_ternary<T, bool, T, T>(plan, [](bool mask, T a, T b) { return mask ? a : b; }); });
}

void clamp(ScalarType type, const LoopPlan<4>& plan) {
  visit_types(type, [&]<class T>() {
    map_ternary<T, T, T, T>(plan, [](T x, T low, T high) {
      const T above = x < low ? low : x;
      return above > high ? high : above;
    });
  });
}

}  // namespace mindtorch::cpu
