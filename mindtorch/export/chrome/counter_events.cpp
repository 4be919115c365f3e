// Counter events.
#include "mindtorch/export/chrome/counter_events.h"

#include <fmt/format.h>

#include <string>

#include "mindtorch/base/text.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::exporter::chrome {

void append_counters(const trace::Recording& recording, const Layout& layout, std::int64_t offset_ns, Output& out) {
  constexpr std::size_t kRoomForNumbers = 64;
  for (const trace::CounterTrack& counter : recording.counters) {
    const std::string_view unit = counter.unit.empty() ? trace::chrome_format::kNoUnit : std::string_view(counter.unit);
    const std::string before =
        fmt::format(R"({{"ph":"C","name":{},"pid":{},"tid":0,"ts":)", json_quoted(counter.name), layout.process_of(counter.device).pid);
    const std::string between = fmt::format(R"(,"args":{{{}:)", json_quoted(unit));
    for (std::size_t i = 0; i < counter.size(); ++i) {
      JsonCursor cursor(out.reserve(before.size() + between.size() + kRoomForNumbers));
      cursor.bytes(before).micros(counter.times_ns[i] + offset_ns).bytes(between);
      char* const end = fmt::format_to(cursor.position(), "{}", counter.values[i]);
      out.advance(JsonCursor(end).literal("}},\n").position());
    }
  }
}

}  // namespace mindtorch::exporter::chrome
