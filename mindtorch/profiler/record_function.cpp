// RecordFunction: the rare part.
#include "mindtorch/profiler/record_function.h"

namespace mindtorch::profiler {

void RecordFunction::add_args(std::string_view args) noexcept {
  static const record::NameId key = record::intern("args");
  record::add_attribute(scope_.slot(), key, args);
}

}  // namespace mindtorch::profiler
