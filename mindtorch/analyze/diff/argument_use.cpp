// Argument use: texts for types and shapes, and the comparison of two runs.
#include "mindtorch/analyze/diff/argument_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace mindtorch::analyze {
namespace {

// As Python prints torch.float32, without "torch.".
std::string_view type_text(trace::ScalarType type) {
  static constexpr std::pair<trace::ScalarType, std::string_view> kTexts[] = {
      {trace::ScalarType::kUint8, "uint8"},       {trace::ScalarType::kInt8, "int8"},      {trace::ScalarType::kInt16, "int16"},
      {trace::ScalarType::kInt32, "int32"},       {trace::ScalarType::kInt64, "int64"},    {trace::ScalarType::kHalf, "float16"},
      {trace::ScalarType::kFloat, "float32"},     {trace::ScalarType::kDouble, "float64"}, {trace::ScalarType::kBool, "bool"},
      {trace::ScalarType::kBFloat16, "bfloat16"},
  };
  const auto* known = std::ranges::find(kTexts, type, &std::pair<trace::ScalarType, std::string_view>::first);
  if (known != std::end(kTexts)) return known->second;
  std::string_view name = trace::scalar_type_name(type);
  if (name.starts_with("c10::")) name.remove_prefix(5);
  return name.empty() ? "another type" : name;
}

void add_times(std::map<std::string, double>& to, const std::map<std::string, double>& from) {
  for (const auto& [text, time] : from) to[text] += time;
}

// The text with most time that the other run does not have; nullptr if there is none.
const std::string* only_here(const std::map<std::string, double>& here, const std::map<std::string, double>& there) {
  const std::string* most = nullptr;
  double most_time = -1;
  for (const auto& [text, time] : here) {
    if (there.contains(text) || time <= most_time) continue;
    most = &text;
    most_time = time;
  }
  return most;
}

void add_change(const std::map<std::string, double>& before, const std::map<std::string, double>& after, std::vector<std::string>& out) {
  if (before.empty() || after.empty()) return;
  const std::string *gone = only_here(before, after), *fresh = only_here(after, before);
  if (gone != nullptr && fresh != nullptr) out.push_back(fmt::format("{} → {}", *gone, *fresh));
  if (gone == nullptr && fresh != nullptr) out.push_back(fmt::format("new: {}", *fresh));
  if (gone != nullptr && fresh == nullptr) out.push_back(fmt::format("gone: {}", *gone));
}

}  // namespace

void ArgumentUse::add(const ArgumentUse& other) {
  add_times(types, other.types);
  add_times(shapes, other.shapes);
}

void ArgumentReader::add(std::span<const std::int64_t> words, double time_ns, ArgumentUse& use) {
  if (words.empty()) return;
  read_arguments(words, arguments_);
  signature_.clear();
  for (const Argument& argument : arguments_) {
    const bool is_tensor = argument.kind == trace::Input::Kind::kTensor;
    if (is_tensor && std::ranges::find(signature_, argument.dtype) == signature_.end()) signature_.push_back(argument.dtype);
  }
  if (signature_.empty()) return;
  std::string& types = types_[signature_];
  if (types.empty()) {
    std::vector<std::string_view> texts;
    for (const trace::ScalarType type : signature_) texts.push_back(type_text(type));
    types = fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string& shapes = shapes_[shape_ids_.id(words)];
  if (shapes.empty()) shapes = shapes_text(input_shapes(words));
  use.types[types] += time_ns;
  use.shapes[shapes] += time_ns;
}

std::vector<std::string> argument_changes(const ArgumentUse& before, const ArgumentUse& after) {
  std::vector<std::string> changes;
  add_change(before.types, after.types, changes);
  add_change(before.shapes, after.shapes, changes);
  return changes;
}

}  // namespace mindtorch::analyze
