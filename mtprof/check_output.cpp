// Verdicts of a check in the forms that people and build servers read.
#include "mtprof/check_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mindtorch/base/json_writer.h"
#include "mindtorch/export/markup.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

using analyze::Verdict;
using Outcome = analyze::Verdict::Outcome;

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kWithin: return "ok";
    case Outcome::kExceeded: return "exceeded";
    case Outcome::kUnclear: return "unclear";
  }
  return "";
}

std::size_t count(std::span<const Verdict> verdicts, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, outcome, &Verdict::outcome));
}

// The rules of GitHub's workflow commands: '%' and line breaks are escaped in messages.
std::string command_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%': out += "%25"; break;
      case '\r': out += "%0D"; break;
      case '\n': out += "%0A"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

std::string verdicts_text(std::span<const Verdict> verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) text += fmt::format("{:<9} {}\n", outcome_name(verdict.outcome), shown(verdict.text()));
  text += fmt::format("{} of {} limits exceeded", count(verdicts, Outcome::kExceeded), verdicts.size());
  if (const std::size_t unclear = count(verdicts, Outcome::kUnclear); unclear > 0) text += fmt::format(", {} undecided", unclear);
  return text + "\n";
}

std::string verdicts_json(std::span<const Verdict> verdicts) {
  JsonWriter json;
  json.object([&] {
    json.field("exceeded", count(verdicts, Outcome::kExceeded)).field("unclear", count(verdicts, Outcome::kUnclear));
    json.list_field("limits", verdicts, [&](const Verdict& verdict) {
      const analyze::Shift& shift = verdict.shift;
      json.object([&] {
        json.field("metric", verdict.limit.metric).field("subject", verdict.subject).field("outcome", outcome_name(verdict.outcome));
        if (verdict.limit.is_least) {
          json.field("least", shift.before).field("value", shift.after);
        } else {
          json.field("limit", verdict.limit.share).field("before", shift.before).field("after", shift.after).field("change", shift.change);
          if (std::isfinite(shift.low)) json.field("change_low", shift.low).field("change_high", shift.high);
        }
        json.field("text", verdict.text());
      });
      json.line_break();
    });
  });
  return json.take() + "\n";
}

std::string verdicts_junit(std::span<const Verdict> verdicts) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mtprof check\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
      verdicts.size(), count(verdicts, Outcome::kExceeded), count(verdicts, Outcome::kUnclear));
  for (const Verdict& verdict : verdicts) {
    const std::string message = exporter::markup_escaped(verdict.text());
    text += fmt::format("  <testcase classname=\"mtprof.check\" name=\"{}\">", exporter::markup_escaped(verdict.subject));
    switch (verdict.outcome) {
      case Outcome::kWithin: text += fmt::format("<system-out>{}</system-out>", message); break;
      case Outcome::kExceeded: text += fmt::format("<failure message=\"{}\"/>", message); break;
      case Outcome::kUnclear: text += fmt::format("<skipped message=\"{}\"/>", message); break;
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n";
}

std::string verdicts_github(std::span<const Verdict> verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::kWithin) continue;
    const std::string_view command = verdict.outcome == Outcome::kExceeded ? "error" : "warning";
    text += fmt::format("::{} title=mtprof check::{}\n", command, command_escaped(shown(verdict.text())));
  }
  return text;
}

}  // namespace mindtorch::mtprof
