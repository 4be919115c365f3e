// Writes the sample recordings in every format into a folder, for the tests that read them with other people's readers.
#include <fmt/format.h>

#include <exception>

#include "mindtorch/export/export_trace.h"
#include "tests/support/sample_recordings.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_traces FOLDER\n");
    return 2;
  }
  try {
    auto recordings = mindtorch::tests::sample_recordings();
    recordings.emplace_back("sampled", mindtorch::tests::sampled_recording());
    for (const auto& [name, recording] : recordings) {
      for (const mindtorch::exporter::TraceFormat& format : mindtorch::exporter::formats()) {
        mindtorch::exporter::export_trace(recording, fmt::format("{}/{}{}", argv[1], name, format.suffix));
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_traces: {}\n", error.what());
    return 1;
  }
}
