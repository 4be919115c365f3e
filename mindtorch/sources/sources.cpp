// The list of sources. Another vendor adds a folder and one line here.
#include "mindtorch/sources/sources.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/sources/cupti/cupti_source.h"
#include "mindtorch/sources/mspti/mspti_source.h"
#include "mindtorch/sources/reference/reference_source.h"

namespace mindtorch::sources {
namespace {

// Whether the user wants NPUs to be recorded through MSPTI, even if the reference device is on.
bool is_mspti_wanted() {
  const char* const chosen = std::getenv("MINDTORCH_NPU");
  std::string_view rest = chosen != nullptr ? chosen : "";
  bool is_wanted = false;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word != "reference" && word != "mspti")
      throw_error<InvalidArgument>("profiler.sources", "MINDTORCH_NPU is '{}'; it may be 'reference', 'mspti' or both with a comma",
                                   chosen);
    is_wanted |= word == "mspti";
  }
  return is_wanted;
}

}  // namespace

std::vector<record::ActivitySource*> all_sources() {
  std::vector<record::ActivitySource*> sources = {&cupti::cupti_source()};
  if (!is_mspti_wanted()) sources.push_back(&reference_source());
  sources.push_back(&mspti::mspti_source());
  return sources;
}

}  // namespace mindtorch::sources
