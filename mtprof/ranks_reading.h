// Reads the recordings of a job's ranks, several at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/ranks/job.h"

namespace mindtorch::mtprof {

struct FoundFiles {
  std::vector<std::string> files;
  std::vector<analyze::JobFault> faults;  // files that are found twice
};

// The recordings, Chrome traces and summaries among `paths`; of a folder, those in it and in the folders below, except for the file that
// this program prints into. In the order of their names, and one file once, whatever names it has. Throws IoError if a path does not
// exist, and InvalidArgument if there is no such file.
FoundFiles find_recordings(const std::vector<std::string>& paths);

struct RanksRead {
  std::vector<analyze::RankSummary> summaries;
  std::vector<analyze::JobFault> faults;  // files that cannot be read
};

// Each file is read and summarised by one of `threads` threads (0: one for each processor), which then drops it.
// The rank comes from the recording, or else from a name such as "train.rank3.mtrec"; it is -1 if both do not tell.
RanksRead read_ranks(const std::vector<std::string>& files, std::uint64_t max_memory, unsigned threads = 0);

// The summaries, and one that holds nothing but the damage for each file that could not be read: read_ranks() makes the fault of it again.
std::vector<analyze::RankSummary> with_unreadable(const RanksRead& read);

// Gives ranks that are not known the numbers that no other file has, in the order of the files, and adds a fault for each.
void number_the_rest(RanksRead& read);

}  // namespace mindtorch::mtprof
