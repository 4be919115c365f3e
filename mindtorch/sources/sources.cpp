// The list of sources. Another vendor adds a folder and one line here.
#include "mindtorch/sources/sources.h"

#include "mindtorch/sources/cupti/cupti_source.h"
#include "mindtorch/sources/reference/reference_source.h"

namespace mindtorch::sources {

std::vector<record::ActivitySource*> all_sources() {
  return {
      &cupti::cupti_source(),
      &reference_source(),
  };
}

}  // namespace mindtorch::sources
