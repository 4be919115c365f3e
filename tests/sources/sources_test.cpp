// The list of sources.
#include "mindtorch/sources/sources.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mindtorch::sources {
namespace {

TEST(Sources, AreAlwaysTheSameObjectsWithNamesOfTheirOwn) {
  const auto sources = all_sources();
  EXPECT_EQ(sources, all_sources());
  std::set<std::string> names;
  for (record::ActivitySource* source : sources) names.emplace(source->name());
  EXPECT_EQ(names.size(), sources.size());
  EXPECT_TRUE(names.contains("reference"));
}

TEST(Sources, SayWhyTheyCannotBeUsed) {
  for (record::ActivitySource* source : all_sources()) {
    const Status status = source->probe();
    EXPECT_TRUE(status.is_ok() || status.reason().size() > 10) << source->name();
  }
}

}  // namespace
}  // namespace mindtorch::sources
