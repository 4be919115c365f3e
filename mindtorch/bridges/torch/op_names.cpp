// The way of a name that its address did not find.
#include "mindtorch/bridges/torch/op_names.h"

#include <string_view>

#include "mindtorch/record/names.h"

namespace mindtorch::torch_bridge {

OpName OpNameCache::find_by_text(const char* name, Entry& entry) noexcept {
  const std::string_view text(name);
  const OpName found{record::intern_cached(text), text.starts_with("autograd::engine::evaluate_function: "),
                     text.starts_with("ProfilerStep#")};
  entry = {name, record::name_text(found.id).c_str(), found};
  return found;
}

}  // namespace mindtorch::torch_bridge
