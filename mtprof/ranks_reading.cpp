// Threads take files from a list until it is empty.
#include "mtprof/ranks_reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/ranks/summary_bytes.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/error_text.h"
#include "mindtorch/base/file.h"
#include "mindtorch/ingest/load_trace.h"
#include "mindtorch/ingest/rank_identity.h"

namespace mindtorch::mtprof {
namespace {

namespace fs = std::filesystem;
using analyze::JobFault;
using analyze::RankSummary;

bool has_known_suffix(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".mtrec") || name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(analyze::kSummarySuffix);
}

// The shell makes "ranks.json" of `mtprof ranks . --json > ranks.json` before this program looks into the folder.
bool is_printed_into(const fs::path& path) {
  struct stat file {
  }, printed{};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &printed) == 0 && file.st_dev == printed.st_dev &&
         file.st_ino == printed.st_ino;
}

void add_folder(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; at != end && !code; at.increment(code)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored) || !has_known_suffix(at->path()) || is_printed_into(at->path())) continue;
    files.push_back(at->path().string());
  }
  if (code) throw_io_error("mtprof.ranks", "list", folder.string(), code.value());
}

// Leaves out the other names of a file that is among them. A name that is no link is kept, because it may tell the rank.
FoundFiles each_once(std::vector<std::string> files) {
  std::stable_partition(files.begin(), files.end(), [](const std::string& file) { return !fs::is_symlink(file); });
  FoundFiles found;
  std::map<std::pair<dev_t, ino_t>, std::string> known;
  for (std::string& file : files) {
    struct stat about {};
    const bool is_there = ::stat(file.c_str(), &about) == 0;
    const auto [first, is_new] = known.try_emplace({about.st_dev, about.st_ino}, file);
    if (is_there && !is_new) {
      found.faults.push_back(
          {JobFault::Kind::kDuplicate, -1, file, fmt::format("is the same file as {}, and is read once", first->second)});
    } else {
      found.files.push_back(std::move(file));
    }
  }
  std::ranges::sort(found.files);
  return found;
}

// "train.rank3.mtrec", "rank_3.json", "trace-rank-3.json.gz"
std::int64_t rank_in_name(const std::string& file) {
  std::string name = fs::path(file).filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = name.rfind("rank");
  if (at == std::string::npos) return -1;
  std::string_view rest = std::string_view(name).substr(at + 4);
  while (rest.starts_with('_') || rest.starts_with('-')) rest.remove_prefix(1);
  std::int64_t rank = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  return error == std::errc() && rank >= 0 ? rank : -1;
}

// The rank comes from the recording, or else from a name such as "train.rank3.mtrec"; it is -1 if both do not tell.
RankSummary summarize_file(const std::string& file, const ingest::ReadOptions& options) {
  const ingest::LoadedTrace loaded = ingest::load_trace(file, options);
  if (loaded.damage && loaded.recording.events.size() == 0) throw Error(*loaded.damage);
  const analyze::Analysis analysis(loaded.recording);
  trace::RankIdentity identity = ingest::rank_identity(loaded.recording);
  if (identity.rank < 0) identity.rank = rank_in_name(file);
  RankSummary summary = analyze::summarize_rank(analysis, identity);
  summary.file = file;
  summary.damage = loaded.damage.value_or("");
  return summary;
}

JobFault unreadable(const std::string& file, std::string text) {
  return {JobFault::Kind::kUnreadable, rank_in_name(file), file, std::move(text)};
}

// In a file of summaries, a file that could not be read is a summary of damage alone. No other summary has damage and no events.
bool stands_for_unreadable(const RankSummary& summary) { return summary.events == 0 && !summary.damage.empty(); }

RanksRead read_summaries(const std::string& file) {
  RanksRead read;
  for (RankSummary& summary : analyze::summaries_from_bytes(read_file(file))) {
    if (stands_for_unreadable(summary)) {
      read.faults.push_back(unreadable(summary.file, summary.damage));
    } else {
      read.summaries.push_back(std::move(summary));
    }
  }
  return read;
}

RanksRead try_summarize(const std::string& file, const ingest::ReadOptions& options) {
  try {
    if (file.ends_with(analyze::kSummarySuffix)) return read_summaries(file);
    return {{summarize_file(file, options)}, {}};
  } catch (const ingest::NotATrace& error) {
    return {{}, {{JobFault::Kind::kNoTrace, -1, file, text_for_users(error)}}};
  } catch (const std::exception& error) {
    return {{}, {unreadable(file, text_for_users(error))}};
  }
}

}  // namespace

FoundFiles find_recordings(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::exists(path)) throw_io_error("mtprof.ranks", "open", path, ENOENT);
    if (fs::is_directory(path)) {
      add_folder(path, files);
    } else {
      files.push_back(path);
    }
  }
  std::ranges::sort(files);
  if (files.empty())
    throw_error<InvalidArgument>("mtprof.ranks", "there is no .mtrec, .json or .json.gz file in {}", fmt::join(paths, ", "));
  return each_once(std::move(files));
}

RanksRead read_ranks(const std::vector<std::string>& files, std::uint64_t max_memory, unsigned threads) {
  std::vector<RanksRead> results(files.size());
  std::atomic<std::size_t> next{0};
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, files.size()));
  const std::vector<std::string_view> attributes = analyze::rank_attributes();
  const ingest::ReadOptions options{.times_only = true, .attributes = attributes, .max_memory = max_memory, .threads = threads / workers};
  const auto work = [&] {
    for (std::size_t k = next++; k < files.size(); k = next++) results[k] = try_summarize(files[k], options);
  };
  {
    std::vector<std::jthread> others;
    for (unsigned k = 1; k < workers; ++k) others.emplace_back(work);
    work();
  }
  RanksRead read;
  for (RanksRead& part : results) {
    std::ranges::move(part.summaries, std::back_inserter(read.summaries));
    std::ranges::move(part.faults, std::back_inserter(read.faults));
  }
  return read;
}

std::vector<RankSummary> with_unreadable(const RanksRead& read) {
  std::vector<RankSummary> summaries = read.summaries;
  for (const JobFault& fault : read.faults) {
    if (fault.kind != JobFault::Kind::kUnreadable) continue;
    summaries.emplace_back();
    summaries.back().file = fault.file;
    summaries.back().damage = fault.text;
  }
  return summaries;
}

void number_the_rest(RanksRead& read) {
  std::vector<bool> is_taken(read.summaries.size());
  const auto take = [&](std::int64_t rank) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < is_taken.size()) is_taken[static_cast<std::size_t>(rank)] = true;
  };
  for (const RankSummary& summary : read.summaries) take(summary.identity.rank);
  for (RankSummary& summary : read.summaries) {
    if (summary.identity.rank >= 0) continue;
    summary.identity.rank = std::ranges::find(is_taken, false) - is_taken.begin();
    take(summary.identity.rank);
    read.faults.push_back({JobFault::Kind::kNoRank, summary.identity.rank, summary.file,
                           fmt::format("neither the file nor its name tells its rank; it is taken for rank {}", summary.identity.rank)});
  }
}

}  // namespace mindtorch::mtprof
