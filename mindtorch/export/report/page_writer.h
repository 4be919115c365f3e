// Fills the page that all reports share with a title, data and scripts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mindtorch::exporter {

// Writes the page, whole or not at all. `data` is JSON that cannot end the element around it; `scripts` are files of the folder page/, in
// this order. Throws IoError.
void write_page(const std::string& path, std::string_view title, std::string_view data, std::initializer_list<std::string_view> scripts);

}  // namespace mindtorch::exporter
