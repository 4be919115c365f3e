// The way of a name that its address did not find.
#include "mindtorch/bridges/torch/op_names.h"

#include <string_view>

#include "mindtorch/record/names.h"

namespace mindtorch::torch_bridge {
namespace {

// Length and the last bytes: names of one kind begin alike.
std::size_t text_index(std::string_view text) noexcept {
  std::uint64_t tail = 0;
  const std::size_t bytes = text.size() < sizeof(tail) ? text.size() : sizeof(tail);
  std::memcpy(&tail, text.data() + text.size() - bytes, bytes);
  return ((tail ^ text.size()) * 0x9E3779B97F4A7C15u) >> 55;
}

}  // namespace

OpName OpNameCache::find_by_text(const char* name) noexcept {
  const std::string_view text(name);
  ByText& known = by_text_[text_index(text)];
  if (text != known.text) {
    const record::NameId id = record::intern_cached(text);
    known = {
        record::name_text(id).c_str(),
        {id, text.starts_with("autograd::engine::evaluate_function: "), text.starts_with("ProfilerStep#"), text.starts_with("aten::")}};
  }
  ByAddress& entry = by_address_[address_index(name)];
  entry = {name, {}, known.text, known.name, text.size() >= kHead};
  std::memcpy(entry.head, name, kHead);
  return known.name;
}

}  // namespace mindtorch::torch_bridge
