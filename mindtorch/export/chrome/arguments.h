// The part of an event's "args" that only some events have: shapes, stack, attributes, memory, flags.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// Events must be asked for in increasing order, so that each side table is read once.
class EventArguments {
 public:
  explicit EventArguments(const analyze::Analysis& analysis);

  // True if `event` has anything here; else append() writes nothing.
  bool any(trace::EventIndex event);
  // Appends `,"key":value` for each argument.
  void append(std::string& out, trace::EventIndex event);

  // Starts again at the first event.
  void rewind() { next_input_ = next_stack_ = next_attribute_ = 0; }

  // True if every op says where its tensors live, so that only the ones off the CPU need to be marked.
  bool devices_known() const { return devices_known_; }

 private:
  void append_inputs(std::string& out, trace::EventIndex event);
  void append_stack(std::string& out, trace::EventIndex event);
  const std::string& whole_stack(trace::StackId stack);
  void append_attributes(std::string& out, trace::EventIndex event);
  void append_row(std::string& out, std::span<const trace::Attribute> attributes, bool is_of_device);
  void append_memory(std::string& out, trace::EventIndex event) const;
  void append_flags(std::string& out, trace::EventIndex event) const;

  const analyze::Analysis& analysis_;
  const trace::Recording& recording_;
  bool devices_known_ = true;
  std::vector<bool> shadowed_;             // by NameId: attribute keys the writer has its own value for
  std::vector<bool> shadowed_on_device_;   // by NameId: those of launches and of work on a device
  std::vector<std::size_t> latest_place_;  // by NameId: where the key was last seen in the row at hand
  std::vector<std::string> frame_json_;    // each frame as a JSON string
  std::vector<bool> stack_is_written_;
  bool stacks_are_whole_ = false;
  std::vector<std::string> whole_stack_json_;  // of stacks that were written, each as a JSON string
  // The text of rows that were written lately: the kernels of a program have few distinct rows. Rows of a file that was read are not shared
  // and are found by their hash.
  struct RowText {
    std::span<const trace::Attribute> row;
    bool is_of_device = false;
    std::string text;
  };
  bool rows_are_shared_ = false;
  std::vector<RowText> row_texts_ = std::vector<RowText>(1024);
  InputTexts inputs_;
  std::size_t next_input_ = 0, next_stack_ = 0, next_attribute_ = 0;
};

// The kind that readers derive from the category, the name and the link of an event. If it is wrong, the kind is written as an argument.
bool needs_kind(const trace::Recording& recording, trace::EventIndex event);

}  // namespace mindtorch::exporter::chrome
