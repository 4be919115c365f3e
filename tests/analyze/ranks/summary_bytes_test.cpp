// Summaries of ranks as bytes.
#include "mindtorch/analyze/ranks/summary_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

std::vector<RankSummary> full_job() {
  auto job = make_job({.ranks = 3, .steps = 7});
  job[1].identity.groups = {{"tp", {0, 1}}};
  job[1].damage = "it ends early";
  job[2].devices = {{{trace::DeviceType::kCuda, 1}, 100, 50, 30, 20, 10}};
  job[2].memory = {{{}, 4096}};
  job[2].steps_left_out = 9;
  job[2].collectives.back().is_finished = false;
  return job;
}

TEST(SummaryBytes, GiveTheSameSummaries) {
  const auto job = full_job();
  EXPECT_EQ(summaries_from_bytes(summary_bytes(job)), job);
  EXPECT_TRUE(summaries_from_bytes(summary_bytes({})).empty());
}

TEST(SummaryBytes, OfALargeSummaryStayBelowAMegabyte) {
  auto job = make_job({.ranks = 1, .steps = static_cast<std::int64_t>(kMostRankSteps), .collectives_per_step = 1});
  job[0].collectives.resize(kMostRankCollectives, job[0].collectives.back());
  for (std::size_t k = job[0].work.size(); k < kMostRankWorkValues / kMostRankSteps; ++k)
    job[0].work.push_back({"op " + std::to_string(k), RankWork::Kind::kOp, std::vector<float>(kMostRankSteps, 0.123F)});
  EXPECT_LT(summary_bytes(job).size(), std::size_t{1} << 20);
}

TEST(SummaryBytes, ThatAreCutOrChangedAreRefused) {
  const std::string bytes = summary_bytes(full_job());
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{16}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_THROW(summaries_from_bytes(std::string_view(bytes).substr(0, size)), InvalidArgument) << size;
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_THROW(summaries_from_bytes(changed), InvalidArgument) << at;
  }
}

TEST(SummaryBytes, WhoseListsDoNotFitTogetherAreRefused) {
  auto job = full_job();
  job[0].collectives[0].name = 77;
  EXPECT_THROW(summaries_from_bytes(summary_bytes(job)), InvalidArgument);
  job = full_job();
  job[0].work[0].seconds.pop_back();
  EXPECT_THROW(summaries_from_bytes(summary_bytes(job)), InvalidArgument);
}

}  // namespace
}  // namespace mindtorch::analyze
