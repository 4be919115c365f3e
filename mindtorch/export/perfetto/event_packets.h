// Events of a recording as packets: begin and end of each slice in the order Perfetto needs, instants, counters, arrows, arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/export/flows.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/export/perfetto/sequence.h"
#include "mindtorch/export/perfetto/tracks.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::perfetto {

class EventPackets {
 public:
  // Times are written relative to `first_ns`.
  EventPackets(const analyze::Analysis& analysis, const Layout& layout, const Uuids& uuids, std::int64_t first_ns);

  // All events of one row. At equal times: ends (innermost first), begins (outermost first), instants.
  void append_row(Sequence& sequence, std::uint32_t row);
  // One column of the memory reports of a device.
  void append_counter(Sequence& sequence, trace::Device device, const trace::Column<std::int64_t>& values) const;
  void append_counter(Sequence& sequence, const trace::CounterTrack& counter) const;

 private:
  struct Arrow {
    trace::EventIndex event;
    std::uint64_t id;
    bool terminates;
    friend auto operator<=>(const Arrow&, const Arrow&) = default;
  };

  void append_begin(Sequence& sequence, trace::EventIndex event, std::uint32_t type);
  void append_arguments(Sequence& sequence, trace::EventIndex event);
  void append_attribute(Sequence& sequence, const trace::Attribute& attribute) const;
  void append_arrows(Sequence& sequence, trace::EventIndex event) const;
  const std::string& stack_text(trace::StackId stack);

  const trace::Recording& recording_;
  const Layout& layout_;
  std::int64_t first_ns_;
  std::vector<Arrow> arrows_;             // by event
  std::vector<std::string> stack_texts_;  // of each stack, made when first needed
  InputTexts inputs_;
};

}  // namespace mindtorch::exporter::perfetto
