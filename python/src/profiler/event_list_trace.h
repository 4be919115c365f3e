// ListTrace: a Chrome trace that is only a list of events, as torch writes it for an EventList.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/analyze/average.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/export/output.h"

namespace mindtorch::python {

// Throws IoError; the file appears with commit() or not at all.
class ListTrace {
 public:
  explicit ListTrace(const std::string& path);
  void add(const analyze::FunctionEvent& event, std::string_view device);  // device: what its arrows point to
  void add(const analyze::Average& row, std::int64_t pid);
  void commit();

 private:
  void item(std::string_view json);

  exporter::Output out_;
  bool first_ = true;
  std::size_t next_arrow_ = 0;
  double next_start_us_ = 0;
};

}  // namespace mindtorch::python
