// Reading a file piece by piece gives what reading it as a whole gives.
#include "mindtorch/ingest/chrome/file_reading.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "mindtorch/export/output.h"
#include "mindtorch/ingest/chrome/trace_assembly.h"
#include "tests/support/same_recording.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

class FileReadingTest : public testing::Test {
 protected:
  std::optional<TracePart> read(const std::string& text, unsigned threads) {
    exporter::write_output(path_, text);
    return read_file(InputFile("test", path_), {.max_memory = kMuch, .threads = threads});
  }

  static trace::Recording assembled(TracePart&& part) {
    trace::MemoryBudget budget(kMuch);
    return assemble(std::move(part), budget);
  }

  void expect_same_as_whole(const std::string& text) {
    const trace::Recording whole = assembled(read_text(text, {.max_memory = kMuch, .threads = 1}));
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      std::optional<TracePart> part = read(text, threads);
      ASSERT_TRUE(part) << threads;
      EXPECT_EQ(tests::first_difference(whole, assembled(std::move(*part))), "") << threads;
    }
  }

  tests::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.json";
};

std::string event(int number, std::string_view separator = ", ") {
  return fmt::format(
      R"({{"ph": "X"{0}"cat": "cpu_op"{0}"name": "op{1}"{0}"pid": 1{0}"tid": {2}{0}"ts": {3}.5{0}"dur": 2{0}"args": {{"n": {3}}}}})",
      separator, number % 50, number % 3, number);
}

std::string events(int count, std::string_view between = ",\n") {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : between).append(event(i));
  return text;
}

TEST_F(FileReadingTest, ObjectsAndListsOfManySizesAreTheSame) {
  for (const int count : {0, 1, 100, 5000, 30000}) {
    expect_same_as_whole(fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}], "last": {{"a": [1]}}}})", events(count)));
    expect_same_as_whole(fmt::format("\n [{}]\n", events(count)));
  }
}

TEST_F(FileReadingTest, SpaceBetweenEventsAndLongEventsAreTheSame) {
  expect_same_as_whole(fmt::format("[{}]", events(4000, std::string(300, ' ') + "," + std::string(300, '\n'))));
  const std::string large = fmt::format(R"({{"ph":"X","name":"large","ts":1,"dur":1,"args":{{"text":"{}"}}}})", std::string(3 << 20, 'x'));
  expect_same_as_whole(fmt::format("[{0},{1},{0},{1}]", events(3000), large));
}

TEST_F(FileReadingTest, WhatLooksLikeAPlaceInsideOfATextIsNone) {
  const std::string trap = R"({"ph":"X","name":"a \"}, {\"ph\": \"X\"","ts":1,"dur":1},)";
  std::string text;
  for (int i = 0; i < 20000; ++i) text += trap;
  expect_same_as_whole("[" + text + events(3) + "]");
}

TEST_F(FileReadingTest, WhatMustBeReadAsAWholeIsLeftToOthers) {
  const std::string many = events(30000);
  EXPECT_FALSE(read("", 2));
  EXPECT_FALSE(read("no json", 2));
  EXPECT_FALSE(read("[" + many, 2)) << "the end is missing";
  EXPECT_FALSE(read("[" + many + ", {\"ph\": \"X\", ]", 2));
  EXPECT_FALSE(read(std::string("\x1f\x8b\x08", 3) + many, 2));
  std::string last_key;  // events that start with another key
  for (int i = 0; i < 200000; ++i)
    last_key += fmt::format(R"({}{{"name":"an op with a longer name","ts":{},"dur":1,"tid":1,"ph":"X"}})", i == 0 ? "" : ",", i);
  EXPECT_FALSE(read("[" + last_key + "]", 1)) << "there is no place to cut";
}

TEST_F(FileReadingTest, MemoryIsLimited) {
  exporter::write_output(path_, "[" + events(30000) + "]");
  EXPECT_THROW(read_file(InputFile("test", path_), {.max_memory = 100000, .threads = 1}), trace::BudgetExceeded);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
