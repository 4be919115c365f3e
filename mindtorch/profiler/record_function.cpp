// RecordFunction: the rare part.
#include "mindtorch/profiler/record_function.h"

#include "mindtorch/record/constant_name.h"

namespace mindtorch::profiler {

void RecordFunction::add_args(std::string_view args) noexcept {
  static constinit record::ConstantName key("args");
  record::add_attribute(scope_.slot(), key.id(), args);
}

}  // namespace mindtorch::profiler
