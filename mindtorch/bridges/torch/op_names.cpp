// Names found by their text.
#include "mindtorch/bridges/torch/op_names.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mindtorch/record/names.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::torch_bridge {
namespace {

// Of the length and the last bytes: names of one kind begin alike.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t tail = 0;
  const std::size_t bytes = text.size() < sizeof(tail) ? text.size() : sizeof(tail);
  std::memcpy(&tail, text.data() + text.size() - bytes, bytes);
  return (tail ^ text.size()) * 0x9E3779B97F4A7C15u;
}

}  // namespace

const OpName* OpNameCache::at_address(const Group& group, const char* name) noexcept {
  for (const ByAddress& entry : group)
    if (entry.address == name) return &entry.name;
  return nullptr;
}

void OpNameCache::remember_address(const char* name, const OpName& as) noexcept {
  Group& group = by_address_[group_index(name)];
  std::copy_backward(group.begin(), group.end() - 1, group.end());
  group.front() = {name, as};
}

OpName OpNameCache::of_text(const char* name) noexcept {
  const std::string_view text(name);
  ByText& known = by_text_[hash_of(text) >> (64 - kTextBits)];
  if (text != known.text) {
    const record::NameId id = record::intern_cached(text);
    known = {
        record::name_text(id).c_str(),
        {id, text.starts_with("autograd::engine::evaluate_function: "), text.starts_with(trace::kStepPrefix), text.starts_with("aten::")}};
  }
  return known.name;
}

}  // namespace mindtorch::torch_bridge
