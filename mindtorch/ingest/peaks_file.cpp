// Reads a file of peaks with simdjson's DOM. A key that is not known is refused, because a misspelt one would leave a peak unknown.
#include "mindtorch/ingest/peaks_file.h"

#include <simdjson.h>

#include <algorithm>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/file_bytes.h"

namespace mindtorch::ingest {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

class PeaksReader {
 public:
  explicit PeaksReader(const std::string& path) : path_(path) {}

  std::vector<trace::DevicePeaks> read(std::string_view text) const {
    simdjson::dom::parser parser;
    element top;
    simdjson::dom::array entries;
    if (parser.parse(text.data(), text.size()).get(top) != simdjson::SUCCESS) refuse("it is not JSON");
    if (top["peaks"].get_array().get(entries) != simdjson::SUCCESS) refuse("it has no list \"peaks\"");
    std::vector<trace::DevicePeaks> all;
    for (const element entry : entries) {
      object fields;
      if (entry.get_object().get(fields) != simdjson::SUCCESS) refuse("an entry of \"peaks\" is not an object");
      all.push_back(read_entry(fields));
      if (all.back().device.empty()) refuse("an entry of \"peaks\" has no \"device\"");
    }
    return all;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const { throw_error<InvalidArgument>("ingest.read_peaks", "{}: {}", path_, why); }

  trace::DevicePeaks read_entry(const object& fields) const {
    trace::DevicePeaks peaks;
    peaks.source = path_;
    for (const auto [key, value] : fields) {
      if (key == "device") {
        peaks.device = text(key, value);
      } else if (key == "host") {
        peaks.host = text(key, value);
      } else if (key == "source") {
        peaks.source = text(key, value);
      } else if (key == "memory_tbytes") {
        peaks.tbytes = number(key, value);
      } else if (key == "cache_mbytes") {
        peaks.cache_mbytes = number(key, value);
      } else if (key == "clock_mhz") {
        peaks.clock_mhz = number(key, value);
      } else if (key == "tflops") {
        read_rates(value, peaks);
      } else {
        refuse(fmt::format("'{}' is not a key of an entry: device, host, source, tflops, memory_tbytes, cache_mbytes, clock_mhz", key));
      }
    }
    return peaks;
  }

  void read_rates(element value, trace::DevicePeaks& peaks) const {
    object rates;
    if (value.get_object().get(rates) != simdjson::SUCCESS) refuse("\"tflops\" is not an object");
    for (const auto [key, rate] : rates) {
      const auto unit = std::ranges::find(trace::kComputeUnitNames, key);
      if (unit == trace::kComputeUnitNames.end())
        refuse(
            fmt::format("'{}' is not a key of \"tflops\": float64, float64_tensor, float32, tf32, bfloat16, float16, float8, int8", key));
      peaks.tflops[static_cast<std::size_t>(unit - trace::kComputeUnitNames.begin())] = number(key, rate);
    }
  }

  std::string text(std::string_view key, element value) const {
    std::string_view view;
    if (value.get_string().get(view) != simdjson::SUCCESS) refuse(fmt::format("\"{}\" is not a text", key));
    return std::string(view);
  }

  double number(std::string_view key, element value) const {
    double number = 0;
    if (value.get_double().get(number) != simdjson::SUCCESS || !(number >= 0)) refuse(fmt::format("\"{}\" is not a number from 0 on", key));
    return number;
  }

  const std::string& path_;
};

}  // namespace

std::vector<trace::DevicePeaks> read_peaks(const std::string& path) {
  const FileBytes bytes("ingest.read_peaks", path, {});
  return PeaksReader(path).read(bytes.view());
}

}  // namespace mindtorch::ingest
