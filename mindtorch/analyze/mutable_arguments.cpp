// The rules of names, and the ops that do not follow them.
#include "mindtorch/analyze/mutable_arguments.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mindtorch::analyze {
namespace {

constexpr bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// An op that writes other arguments than its name tells: bit k stands for argument k.
struct Exception {
  std::string_view name;
  std::uint32_t written;
};

constexpr auto kExceptions = std::to_array<Exception>({{"_amp_foreach_non_finite_check_and_unscale_", 0b11},
                                                       {"_amp_update_scale_", 0b11},
                                                       {"_batch_norm_with_update", 0b11000},
                                                       {"_cummax_helper", 0b110},
                                                       {"_cummin_helper", 0b110},
                                                       {"_fused_adagrad_", 0b1111},
                                                       {"_fused_adam_", 0b11111},
                                                       {"_fused_adamw_", 0b11111},
                                                       {"_fused_moving_avg_obs_fq_helper", 0b1111000},
                                                       {"_fused_sgd_", 0b111},
                                                       {"_native_batch_norm_legit", 0b11000},
                                                       {"_no_grad_embedding_renorm_", 0},
                                                       {"fused_moving_avg_obs_fake_quant", 0b1111000},
                                                       {"record_stream", 0b1},
                                                       {"retain_grad", 0b1},
                                                       {"rrelu_with_noise", 0b10},
                                                       {"rrelu_with_noise_", 0b11},
                                                       {"set_data", 0b1}});

// Ops that torch calls, or programs often call, with a tensor for the result, and how many arguments they have then. Without such a tensor
// they have fewer, or the last of so many is none.
struct WithResult {
  std::size_t arguments;
  std::string_view names;  // each between two spaces
};

constexpr auto kWithResult = std::to_array<WithResult>(
    {{2, " abs ceil cos exp floor log logical_not neg reciprocal round rsqrt sigmoid sign sin sqrt square tanh "},
     {3,
      " atan2 bitwise_and bitwise_or bmm cat clamp_max clamp_min div dot eq fmod ge gt le logical_and logical_or lt masked_select matmul "},
     {3, " max maximum mean min minimum mm mul mv ne pow remainder stack sum "},
     {4, " add clamp copy cumsum div index_select lerp log_softmax softmax sub where "},
     {5, " addcdiv addcmul gather mean prod scatter sum "},
     {6, " addmm addmv baddbmm linalg_vector_norm norm "}});

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1))
    if (words[at - 1] == ' ' && words[at + word.size()] == ' ') return true;
  return false;
}

bool takes_result(const OpCall& call, std::string_view op) {
  if (!call.overload.empty()) return call.overload == "out" || call.overload.ends_with("_out");
  return std::ranges::any_of(kWithResult,
                             [&](const WithResult& known) { return known.arguments == call.arguments && has_word(known.names, op); });
}

// "add_" and "__iand__".
bool is_in_place(std::string_view op) {
  if (op.ends_with("__")) return op.starts_with("__i") && !op.starts_with("__is");
  return op.ends_with("_");
}

}  // namespace

bool is_schema_name(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0 || colons + 2 == name.size()) return false;
  return std::ranges::all_of(name.substr(0, colons), is_word) && std::ranges::all_of(name.substr(colons + 2), is_word);
}

bool writes_argument(const OpCall& call, std::size_t position) {
  if (call.name.starts_with("c10d::")) return false;  // their schemas do not say that they write
  const std::string_view op = call.name.substr(call.name.find("::") + 2);
  // A tensor for the result is the last argument. Ops with several results are not known here.
  if (takes_result(call, op)) return position + 1 == call.arguments;
  const auto* const exception = std::ranges::find(kExceptions, op, &Exception::name);
  if (exception != kExceptions.end()) return position < 32 && ((exception->written >> position) & 1) != 0;
  return position == 0 && is_in_place(op);
}

}  // namespace mindtorch::analyze
