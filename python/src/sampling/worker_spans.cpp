// Files of workers, line by line.
#include "python/src/sampling/worker_spans.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mindtorch::python {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;  // of a file: workers write less

std::mutex folder_mutex;
std::string& folder_of_workers() {
  static std::string& it = *new std::string;
  return it;
}

record::BracketedSample monotonic_sample(record::Clock& clock) {
  timespec time{};
  record::BracketedSample sample;
  sample.host_before = clock.ticks();
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  sample.host_after = clock.ticks();
  sample.device_ticks = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  return sample;
}

// The words of a line.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}
  char kind() {
    const char first = rest_.empty() ? '\0' : rest_.front();
    rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
    return first;
  }
  // False if the next word is no number.
  bool number(std::uint64_t& into) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

class SpanReader {
 public:
  SpanReader(record::DeviceBatch& batch, std::uint8_t clock, std::uint64_t from, std::uint64_t to)
      : batch_(batch), clock_(clock), from_(from), to_(to) {}

  // `dropped`: what the file says of dropped spans goes on from there.
  void read(const std::filesystem::path& path, std::uint64_t& dropped) {
    dropped_ = &dropped;
    names_.clear();
    thread_ = 0;
    std::ifstream file(path);
    std::string text;
    while (std::getline(file, text))
      if (!file.eof()) read(Line(text));  // the last line, if it has no end, is still being written
  }

 private:
  struct Name {
    std::uint32_t name = 0;
    std::vector<trace::Attribute> details;
    std::uint32_t detail = 0;
  };

  void read(Line line) {
    std::uint64_t number = 0, begin = 0, end = 0;
    switch (line.kind()) {
      case 'w': {
        std::uint64_t pid = 0, thread = 0, worker = 0;
        if (!line.number(pid) || !line.number(thread) || !line.number(worker)) return;
        thread_ = static_cast<std::int32_t>(thread);
        batch_.threads[thread_] = {fmt::format("DataLoader worker {}", worker), static_cast<std::int64_t>(pid)};
        return;
      }
      case 'l':
        if (line.number(number) && number > *dropped_) batch_.overwritten += number - std::exchange(*dropped_, number);
        return;
      case 'n': {
        if (!line.number(number)) return;
        const std::size_t tab = line.rest().find('\t');
        const std::string_view source = tab == std::string_view::npos ? "" : line.rest().substr(tab + 1);
        Name& name = names_[number];
        name.name = batch_.name_id(line.rest().substr(0, tab));
        if (source.empty()) return;
        name.details = {batch_.text_attribute("source", source)};
        name.detail = batch_.details.add(name.details);
        return;
      }
      case 's': {
        if (thread_ == 0 || !line.number(number) || !line.number(begin) || !line.number(end)) return;
        const auto name = names_.find(number);
        if (name == names_.end() || end < begin || end <= from_ || end > to_) return;
        std::uint32_t detail = name->second.detail;
        if (std::uint64_t wait = 0; line.number(wait) && wait > 0) {
          std::vector<trace::Attribute> details = name->second.details;
          details.push_back(
              {.key = batch_.name_id("not_running_ns"), .type = trace::Attribute::Type::kInt, .bits = static_cast<std::int64_t>(wait)});
          detail = batch_.details.add(details);
        }
        batch_.records.push_back({.start = begin,
                                  .end = end,
                                  .name = name->second.name,
                                  .detail = detail,
                                  .lane = thread_,
                                  .kind = trace::EventKind::kScope,
                                  .clock = clock_,
                                  .device = {}});
        return;
      }
      default: return;
    }
  }

  record::DeviceBatch& batch_;
  const std::uint8_t clock_;
  const std::uint64_t from_, to_;
  std::unordered_map<std::uint64_t, Name> names_;
  std::int32_t thread_ = 0;
  std::uint64_t* dropped_ = nullptr;
};

}  // namespace

void watch_data_workers(std::string folder) {
  const std::lock_guard lock(folder_mutex);
  folder_of_workers() = std::move(folder);
}

void WorkerSpans::begin(record::Clock& clock) { began_ = monotonic_sample(clock); }

void WorkerSpans::add_to(record::DeviceBatch& batch, record::Clock& clock) {
  std::string folder;
  {
    const std::lock_guard lock(folder_mutex);
    folder = folder_of_workers();
  }
  std::error_code missing;
  std::filesystem::directory_iterator files(folder, missing);
  if (folder.empty() || missing) return;
  const record::BracketedSample now = monotonic_sample(clock);
  const auto number = static_cast<std::uint8_t>(batch.clocks.size());
  batch.clocks.push_back({.name = "data workers", .samples = {began_, now}});
  SpanReader reader(batch, number, began_.device_ticks, now.device_ticks);
  for (const std::filesystem::directory_entry& file : files) {
    std::error_code gone;
    if (file.is_regular_file(gone) && file.file_size(gone) <= kMostBytes && !gone) reader.read(file.path(), counted_[file.path().stem()]);
  }
}

}  // namespace mindtorch::python
