// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// `text` escaped for the inside of an element or an attribute. Bytes that are not UTF-8, and characters that XML forbids, become U+FFFD.
MINDTORCH_EXPORT std::string markup_escaped(std::string_view text);

// At most `limit` characters of valid UTF-8 text, the last one an ellipsis if some are missing.
MINDTORCH_EXPORT std::string shortened(std::string_view text, std::size_t limit);

}  // namespace mindtorch::exporter
