// CodePlaces: file, function and line of frames, read from the memory of code objects. Each code object is read once; one that has given
// its memory to another is noticed.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/device_batch.h"
#include "python/src/capture/interpreter_memory.h"

namespace mindtorch::python {

// The line of the instruction at `offset`, from the table of a code object; `first_line` if the table does not say.
int line_at(const std::vector<std::uint8_t>& table, int first_line, std::int64_t offset) noexcept;

// One thread at a time.
class CodePlaces {
 public:
  // Frames of files in this folder (which ends in a separator) are not shown.
  explicit CodePlaces(std::string hidden_folder) : hidden_folder_(std::move(hidden_folder)) {}

  enum class Found { kShown, kHidden, kNowhere };  // kNowhere: the frame is not one, or no longer
  // `is_settled`: the frame was open when it was looked up before, so that its code must still be there. Names become names of `batch`.
  Found find(const FrameView& frame, bool is_settled, record::DeviceBatch& batch, trace::Frame& place);
  // The names that were found belong to a batch that is gone.
  void forget_batch() { codes_.clear(); }

 private:
  struct Code {
    CodeView view;
    trace::NameId file = 0;
    trace::NameId function = 0;
    std::vector<std::uint8_t> lines;
    bool is_hidden = false;
  };
  bool read(Address address, const CodeView& view, record::DeviceBatch& batch, Code& into) const;

  const std::string hidden_folder_;
  std::unordered_map<Address, Code> codes_;
};

}  // namespace mindtorch::python
