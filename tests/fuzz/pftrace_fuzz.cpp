// Fuzzes the Perfetto writer: whatever Chrome trace is read, what is written of it must be a Perfetto trace with the same number of events.
// An input that is not a Chrome trace goes to the reader that checks this.
#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/export/perfetto/perfetto_writer.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/pftrace_reader.h"

namespace {

using namespace mindtorch;

void require(bool holds, const char* what, const std::string& why) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  std::abort();
}

std::optional<trace::Recording> recording_of(std::string_view text) {
  try {
    return ingest::read_chrome_bytes(text, "fuzz").recording;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::as_text(data, size);
  std::string why;
  const std::optional<trace::Recording> recording = recording_of(input);
  if (!recording) {
    fuzz::read_pftrace(input, why);
    return 0;
  }
  static const std::string path = "/tmp/mindtorch-fuzz-" + std::to_string(::getpid()) + ".pftrace";
  exporter::write_perfetto_trace(*recording, path);
  const auto summary = fuzz::read_pftrace(read_file(path), why);
  require(summary.has_value(), "the writer made what is not a Perfetto trace", why);
  require(summary->slices + summary->instants >= recording->events.size(), "events are missing in the Perfetto trace", path);
  return 0;
}
