// The list of sources. Another vendor adds a folder and one line here.
#include "mindtorch/sources/sources.h"

#include <cstdlib>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/sources/cupti/cupti_source.h"
#include "mindtorch/sources/mspti/mspti_source.h"
#include "mindtorch/sources/reference/reference_source.h"

namespace mindtorch::sources {
namespace {

std::string_view chosen_npu_source() {
  const char* chosen = std::getenv("MINDTORCH_NPU_SOURCE");
  return chosen != nullptr ? chosen : "";
}

}  // namespace

std::vector<record::ActivitySource*> all_sources() {
  const std::string_view npu = chosen_npu_source();
  if (!npu.empty() && npu != "reference" && npu != "mspti")
    throw_error<InvalidArgument>("profiler.sources", "MINDTORCH_NPU_SOURCE is '{}'; it must be 'reference' or 'mspti'", npu);
  std::vector<record::ActivitySource*> sources = {&cupti::cupti_source()};
  if (npu != "mspti") sources.push_back(&reference_source());
  if (npu != "reference") sources.push_back(&mspti::mspti_source());
  return sources;
}

}  // namespace mindtorch::sources
