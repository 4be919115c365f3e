// The cost of answers and files: key averages, Chrome and Perfetto traces, reading a Chrome trace, and how it grows with the number of
// events. With --trace FILE it measures the same on that trace and prints one JSON object, which answers.py compares with torch.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/harness.h"
#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch {
namespace {

using namespace mindtorch::benchmarks;
namespace fs = std::filesystem;

constexpr std::size_t kEvents = 1'000'000;
constexpr std::size_t kFew = 100'000, kMany = 10'000'000;
constexpr std::size_t kFewNames = 10'000, kManyNames = 1'000'000;
constexpr std::uintmax_t kTraceBytes = 200'000'000;
constexpr int kRounds = 9;

// A folder in memory if possible, so that the disk is not measured.
class Folder {
 public:
  Folder() {
    std::string name = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) / "mindtorch_answers.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Ops nested up to five deep on four threads, 300 names: what a training step looks like to the profiler.
trace::Recording make_recording(std::size_t events) {
  trace::RecordingBuilder builder;
  builder.reserve(events);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(fmt::format("aten::operator_{}", i));
  std::array<trace::TrackId, 4> tracks;
  std::array<std::int64_t, 4> now{};
  for (std::size_t t = 0; t < tracks.size(); ++t) tracks[t] = builder.add_thread(static_cast<std::int64_t>(4001 + t), "worker", 4001);
  std::uint64_t random = 88172645463325252;
  const auto next = [&] {
    random ^= random << 13;
    random ^= random >> 7;
    return random ^= random << 17;
  };
  for (std::size_t i = 0; i < events;) {
    const std::size_t t = next() % tracks.size();
    std::int64_t start = now[t] + 300, duration = 40000 + static_cast<std::int64_t>(next() % 9000);
    now[t] = start + duration;
    const int depth = 1 + static_cast<int>(next() % 5);
    for (int d = 0; d < depth && i < events; ++d, ++i) {
      builder.add_event({.name = names[next() % names.size()], .track = tracks[t], .start_ns = start, .duration_ns = duration});
      start += 900 + static_cast<std::int64_t>(next() % 500);
      duration -= 4000;
    }
  }
  trace::Recording recording = builder.finish();
  recording.clock.base_unix_ns = 1794710745000000000;
  recording.clock.end_ns = *std::max_element(now.begin(), now.end());
  return recording;
}

template <class Work>
double seconds(Work work) {
  return ns_per_op(1, work) / 1e9;
}

double average_seconds(const trace::Recording& recording) {
  return seconds([&] {
    const analyze::Analysis analysis(recording);
    keep(analyze::key_averages(analysis));
  });
}

// Writers make a new file. If they replaced one, freeing the memory of the old file would take a large part of the time.
double write_seconds(const trace::Recording& recording, const std::string& path) {
  fs::remove(path);
  return seconds([&] { exporter::export_trace(recording, path); });
}

// The file system's own share: the same bytes in large pieces.
double plain_write_seconds(const std::vector<char>& bytes, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  fs::remove(path);
  return seconds([&] {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t written = ::write(fd, bytes.data() + at, std::min(kPiece, bytes.size() - at));
      if (written <= 0) throw std::runtime_error("cannot write " + path);
      at += static_cast<std::size_t>(written);
    }
    ::close(fd);
  });
}

void measure_answers(const Folder& folder) {
  const trace::Recording recording = make_recording(kEvents);
  const auto rounds = run_rounds({[&] { return average_seconds(recording); }, [&] { return write_seconds(recording, folder / "t.json"); },
                                  [&] { return write_seconds(recording, folder / "t.json.gz"); },
                                  [&] {
                                    const std::vector<char> bytes(fs::file_size(folder / "t.json"), 'x');
                                    return plain_write_seconds(bytes, folder / "plain");
                                  },
                                  [&] {
                                    fs::remove(folder / "t.pftrace");
                                    return seconds([&] { exporter::export_trace(recording, folder / "t.pftrace"); });
                                  }},
                                 kRounds);
  const auto per_event = [&](std::size_t alternative) {
    std::vector<double> values;
    for (const auto& round : rounds) values.push_back(round[alternative] * 1e9 / static_cast<double>(kEvents));
    return median(values);
  };
  const auto bytes_per_event = [&](const char* name) {
    return static_cast<double>(fs::file_size(folder / name)) / static_cast<double>(kEvents);
  };
  const std::string events = fmt::format("{} events", kEvents);
  print_result(
      {.name = "answers/key_averages_ns_per_event", .ours = per_event(0), .unit = "ns", .note = events + ": tree, self times, groups"});
  print_result({.name = "answers/chrome_json_ns_per_event",
                .ours = per_event(1),
                .peer = "write() of the same bytes",
                .peer_value = per_event(3),
                .unit = "ns",
                .note = fmt::format("{}, {:.0f} bytes each", events, bytes_per_event("t.json"))});
  print_result({.name = "answers/chrome_json_gz_ns_per_event",
                .ours = per_event(2),
                .unit = "ns",
                .note = fmt::format("{}, {:.0f} bytes each", events, bytes_per_event("t.json.gz"))});
  print_result({.name = "answers/pftrace_ns_per_event", .ours = per_event(4), .unit = "ns", .note = events});
  print_result(
      {.name = "answers/pftrace_bytes_per_event", .ours = bytes_per_event("t.pftrace"), .unit = "B", .note = events + ", not compressed"});
}

void measure_reading(const Folder& folder) {
  const std::string path = folder / "read.json";
  exporter::export_trace(make_recording(kEvents), path);
  const double events = static_cast<double>(kEvents) * static_cast<double>(kTraceBytes) / static_cast<double>(fs::file_size(path));
  exporter::export_trace(make_recording(static_cast<std::size_t>(events)), path);
  const double megabytes = static_cast<double>(fs::file_size(path)) / 1e6;
  std::vector<double> speeds;
  for (const auto& round : run_rounds({[&] { return seconds([&] { keep(ingest::read_chrome_trace(path)); }); }}, kRounds))
    speeds.push_back(megabytes / round[0]);
  print_result({.name = "answers/read_chrome_mb_per_s",
                .ours = median(speeds),
                .unit = "MB/s",
                .note = fmt::format("{:.0f} MB into a recording", megabytes)});
}

// Every event has a name of its own, as scopes with a counter in their names have.
trace::Recording make_names(std::size_t names) {
  trace::RecordingBuilder builder;
  builder.reserve(names);
  const trace::TrackId track = builder.add_thread(4001, "worker", 4001);
  for (std::size_t i = 0; i < names; ++i) {
    builder.add_event(
        {.name = fmt::format("request number {}", i), .track = track, .start_ns = static_cast<std::int64_t>(i) * 100, .duration_ns = 50});
  }
  return builder.finish();
}

// The cost per event with many events, as a ratio to the cost with few: 1 if it grows in proportion.
template <class Work>
void print_growth(const char* name, const char* what, const trace::Recording& many, const trace::Recording& few, Work work) {
  const auto per_event = [&](const trace::Recording& recording) {
    return work(recording) * 1e9 / static_cast<double>(recording.events.size());
  };
  const Comparison growth = compare([&] { return per_event(many); }, [&] { return per_event(few); }, 3);
  print_result({.name = name,
                .ours = growth.ratio,
                .unit = "x",
                .note = fmt::format("{:.0f} ns per {} for {}, {:.0f} ns for {}", growth.ours, what, many.events.size(), growth.peer,
                                    few.events.size())});
}

void measure_growth(const Folder& folder) {
  {
    const trace::Recording few = make_recording(kFew), many = make_recording(kMany);
    print_growth("answers/growth", "event", many, few, [&](const trace::Recording& recording) {
      return average_seconds(recording) + write_seconds(recording, folder / "growth.json");
    });
    print_growth("answers/key_averages_growth", "event", many, few, average_seconds);
  }
  const trace::Recording few = make_names(kFewNames), many = make_names(kManyNames);
  print_growth("answers/distinct_names_growth", "name", many, few, average_seconds);
}

int measure_trace(const std::string& path) {
  const Folder folder;
  const trace::Recording recording = ingest::read_chrome_trace(path).recording;
  const auto rounds = run_rounds({[&] { return average_seconds(recording); }, [&] { return write_seconds(recording, folder / "t.json"); },
                                  [&] { return write_seconds(recording, folder / "t.json.gz"); }},
                                 5);
  const auto column = [&](std::size_t alternative) {
    std::vector<double> values;
    for (const auto& round : rounds) values.push_back(round[alternative]);
    return median(values);
  };
  fmt::print("{{\"events\": {}, \"key_averages\": {}, \"chrome_json\": {}, \"chrome_json_gz\": {}}}\n", recording.events.size(), column(0),
             column(1), column(2));
  return 0;
}

}  // namespace
}  // namespace mindtorch

int main(int argc, char** argv) {
  using namespace mindtorch;
  if (argc == 3 && std::string_view(argv[1]) == "--trace") return measure_trace(argv[2]);
  const Folder folder;
  measure_answers(folder);
  measure_reading(folder);
  measure_growth(folder);
}
