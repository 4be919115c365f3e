// Reads a Chrome trace: text, events, Recording.
#include "mindtorch/ingest/chrome/chrome_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/chrome/file_reading.h"
#include "mindtorch/ingest/chrome/text_reading.h"
#include "mindtorch/ingest/chrome/trace_assembly.h"
#include "mindtorch/ingest/file_bytes.h"
#include "mindtorch/ingest/gzip_text.h"
#include "mindtorch/ingest/read_limits.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest {
namespace {

using chrome::TracePart;

constexpr std::string_view kReadChromeTrace = "ingest.read_chrome_trace";

FlowEnds match_flows(std::vector<std::uint64_t>& starts, std::vector<std::uint64_t>& ends) {
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  std::vector<std::uint64_t> alone;
  std::ranges::set_difference(starts, ends, std::back_inserter(alone));
  const std::size_t starts_alone = alone.size();
  std::ranges::set_difference(ends, starts, std::back_inserter(alone));
  return {starts.size(), ends.size(), starts_alone, alone.size() - starts_alone};
}

void require_json(std::string_view beginning, const std::string& path) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (beginning[first] != '{' && beginning[first] != '[')) {
    throw_error<InvalidArgument>(kReadChromeTrace, "'{}' is not a Chrome trace: it starts with neither '{{' nor '['", path);
  }
}

// Decompresses only what may be a trace: the beginning of a gzip of something else is enough to refuse it.
GzipText decompress(std::string_view bytes, const std::string& path, trace::MemoryBudget& budget) {
  constexpr std::size_t kBeginning = std::size_t{64} << 10;
  if (const std::string beginning = gzip_beginning(bytes, kBeginning); beginning.find_first_not_of(" \t\r\n") != std::string::npos) {
    require_json(beginning, path);
  }
  return decompress_gzip(bytes, 0, budget);
}

void add_damage(ChromeReadResult& result, const std::string& what) { result.damage = result.damage ? *result.damage + "; " + what : what; }

trace::Recording assembled(TracePart&& part, std::string_view text, trace::MemoryBudget& budget) {
  try {
    return chrome::assemble(std::move(part), budget);
  } catch (const trace::BudgetExceeded&) {
    // Only the header that this library writes is decoded at this point.
    const std::size_t header = text.find(fmt::format("\"{}\"", trace::chrome_format::header::kOwn));
    throw NeedsMemory({std::min(header, text.size()), "text", "the header of the trace"});
  }
}

// An object without a list of events is another file, which names what it is if it is torch's execution trace.
void require_events(const TracePart& part, const std::string& path) {
  if (part.has_events || !part.damage.empty()) return;
  const bool is_execution_trace = part.header.contains("schema") && part.header.contains("nodes");
  throw_error<NotATrace>(
      kReadChromeTrace, "'{}' is not a Chrome trace: {}", path,
      is_execution_trace ? "it is an execution trace, which holds operators and tensors but no times" : "it is JSON without traceEvents");
}

chrome::TextLimits limits_of(const ReadOptions& options, const trace::MemoryBudget& budget) {
  return {options.check_flows, options.times_only, options.attributes, budget.left(), options.threads};
}

// `text` is what the part was read from, or empty.
ChromeReadResult result_of(TracePart&& part, std::string_view text, const std::string& path, trace::MemoryBudget& budget) {
  require_events(part, path);
  ChromeReadResult result;
  result.elements = part.elements;
  result.skipped = part.skipped;
  result.flows = match_flows(part.flow_starts, part.flow_ends);
  if (!part.damage.empty()) {
    const std::uint64_t damaged = result.skipped["damaged"];
    add_damage(result, fmt::format("{} of {} events cannot be read: {}", damaged, part.elements + damaged, part.damage));
  }
  result.recording = assembled(std::move(part), text, budget);
  return result;
}

ChromeReadResult read_within(std::string_view bytes, const std::string& path, const ReadOptions& options, trace::MemoryBudget& budget) {
  GzipText unzipped;
  if (is_gzip(bytes)) unzipped = decompress(bytes, path, budget);
  const std::string_view text = is_gzip(bytes) ? unzipped.view() : bytes;
  require_json(text, path);
  ChromeReadResult result = result_of(chrome::read_text(text, limits_of(options, budget)), text, path, budget);
  if (unzipped.damage) add_damage(result, *unzipped.damage + "; what follows is lost");
  if (result.damage) {
    const std::uint64_t lost = std::max<std::uint64_t>(1, result.skipped["damaged"]);
    result.recording.losses.push_back({trace::LossReason::kDamagedFile, lost, path, *result.damage});
  }
  return result;
}

// Empty if the text must be in memory as a whole. Both ways have the same limits.
std::optional<ChromeReadResult> read_in_pieces(const std::string& path, const ReadOptions& options) {
  const InputFile file(kReadChromeTrace, path);
  trace::MemoryBudget budget(memory_limit(options, file.size(), FileKind::kPlain));
  if (file.size() > budget.left()) return std::nullopt;
  budget.take(file.size());
  try {
    std::optional<TracePart> part = chrome::read_file(file, limits_of(options, budget));
    return part ? std::optional(result_of(std::move(*part), "", path, budget)) : std::nullopt;
  } catch (const trace::BudgetExceeded&) {
    return std::nullopt;
  }
}

}  // namespace

ChromeReadResult read_chrome_trace(const std::string& path, const ReadOptions& options) {
  return naming_file(kReadChromeTrace, path, [&] {
    std::optional<ChromeReadResult> result = read_in_pieces(path, options);
    return result ? std::move(*result) : read_chrome_bytes(FileBytes(kReadChromeTrace, path, options).view(), path, options);
  });
}

ChromeReadResult read_chrome_bytes(std::string_view bytes, const std::string& path, const ReadOptions& options) {
  const std::uint64_t limit = memory_limit(options, bytes.size(), is_gzip(bytes) ? FileKind::kGzip : FileKind::kPlain);
  trace::MemoryBudget budget(limit);
  return naming_file(kReadChromeTrace, path, [&] {
    try {
      if (bytes.size() > budget.left()) throw NeedsMemory({limit, "file", "its bytes"});
      budget.take(bytes.size());
      return read_within(bytes, path, options, budget);
    } catch (const NeedsMemory& needs) {
      throw_needs_memory(kReadChromeTrace, path, limit, needs.place());
    }
  });
}

}  // namespace mindtorch::ingest
