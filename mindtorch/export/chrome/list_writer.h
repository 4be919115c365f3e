// ListWriter: a Chrome trace that is only a list of events, as torch writes it for a list of events or averages in place of a recording.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/analyze/average.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/base/export.h"
#include "mindtorch/export/output.h"

namespace mindtorch::exporter {

// The fields of an event that the list shows. The event may have been made by hand.
struct ListedEvent {
  std::string name;
  double start_us = 0;
  double duration_us = 0;
  std::string thread;       // as JSON
  std::size_t kernels = 0;  // that it launched
};
MINDTORCH_EXPORT ListedEvent listed(const analyze::FunctionEvent& event);

// Throws IoError; the file appears with commit() or not at all.
class MINDTORCH_EXPORT ListWriter {
 public:
  explicit ListWriter(const std::string& path);
  void add(const ListedEvent& event, std::string_view device);  // device: what its arrows point to
  void add(const analyze::Average& row, std::int64_t pid);
  void commit();

 private:
  void item(std::string_view json);

  Output out_;
  bool first_ = true;
  std::size_t next_arrow_ = 0;
  double next_start_us_ = 0;
};

}  // namespace mindtorch::exporter
