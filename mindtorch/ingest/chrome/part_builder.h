// Turns elements of traceEvents into events, memory reports and row names of a TracePart.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/ingest/chrome/argument_reader.h"
#include "mindtorch/ingest/chrome/name_cache.h"
#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::ingest::chrome {

// Texts are raw tokens, "" where the element does not have the field.
struct ElementFields {
  std::string_view phase, category, pid, tid, start, duration, id;
  trace::NameId name = 0;
};

// One element of traceEvents.
struct Element : ElementFields {
  ParsedArguments arguments;

  void clear() {
    static_cast<ElementFields&>(*this) = {};
    arguments.clear();
  }
};

class PartBuilder {
 public:
  explicit PartBuilder(bool keep_flows) : keep_flows_(keep_flows) {}
  PartBuilder(const PartBuilder&) = delete;
  PartBuilder& operator=(const PartBuilder&) = delete;

  TracePart& part() { return part_; }
  // Bytes that all of it takes, at most.
  std::uint64_t memory() const { return memory_of(part_) + names_.memory() + arguments_.memory(); }
  NameCache& names() { return names_; }
  ArgumentReader& arguments() { return arguments_; }

  void add(Element& element);
  // Counts an element that has no place in a recording.
  void skip(const std::string& what) { ++part_.skipped[what]; }

 private:
  // Returns the meaning of a category as it stands in the text.
  struct Category {
    trace::chrome_format::CategoryMeaning meaning;
    bool is_known = false;
  };

  const Category& category_of(std::string_view token);
  void add_complete(Element& element);
  void add_instant(Element& element);
  void add_metadata(const Element& element);
  void add_counter(const Element& element);
  void add_flow(const Element& element, bool starts, bool ends);
  void add_memory(const Element& element, std::int64_t time);
  void add_event(Element& element, const Category& category, std::int64_t start, std::int64_t duration);
  void add_side_data(ParsedArguments& arguments, trace::EventIndex event);
  trace::NameId name_without_overload(const Element& element);
  RowId row_of(const Element& element, bool is_device, std::int64_t stream);

  bool keep_flows_;
  TracePart part_;
  NameCache names_;
  ArgumentReader arguments_{part_.recording.names, names_};
  trace::StackInterner stacks_;
  trace::IdTable rows_;
  std::array<RowId, 2> last_rows_{};  // of the host and of devices
  trace::IdTable category_ids_;
  std::vector<std::pair<std::string, Category>> categories_;  // by their tokens
};

}  // namespace mindtorch::ingest::chrome
