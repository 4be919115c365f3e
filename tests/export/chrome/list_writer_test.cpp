// Chrome traces of a plain list: what torch writes for events and averages without a recording.
#include "mindtorch/export/chrome/list_writer.h"

#include <gmock/gmock.h>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter {
namespace {

TEST(ListWriter, AnEventAndAnArrowForEachKernel) {
  const tests::TemporaryFolder folder;
  ListWriter writer(folder / "t.json");
  writer.add({.name = "a \"b\"", .start_us = 1.5, .duration_us = 2, .thread = "7", .kernels = 2}, "cuda");
  writer.commit();
  EXPECT_EQ(read_file(folder / "t.json"),
            R"([{"name": "a \"b\"", "ph": "X", "ts": 1.500, "dur": 2.000, "tid": 7, "pid": "CPU functions", "args": {}}, )"
            R"({"name": "a \"b\"", "ph": "s", "ts": 1.500, "tid": 7, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, )"
            R"({"name": "a \"b\"", "ph": "s", "ts": 1.500, "tid": 7, "pid": "CPU functions", "id": 1, "cat": "cpu_to_cuda", "args": {}}])");
}

TEST(ListWriter, AveragesLieOneAfterTheOther) {
  const tests::TemporaryFolder folder;
  analyze::Average row;
  row.key = "mm";
  row.count = 3;
  row.cpu_time_total_ns = 5000;
  ListWriter writer(folder / "t.json");
  writer.add(row, 42);
  writer.add(row, 42);
  writer.commit();
  const std::string text = read_file(folder / "t.json");
  EXPECT_TRUE(is_json(text));
  EXPECT_THAT(text, testing::HasSubstr(R"("ts": 5.000, "dur": 5.000, "tid": 0, "pid": 42, "args": {"count": 3)"));
}

TEST(ListWriter, WithoutCommitThereIsNoFile) {
  const tests::TemporaryFolder folder;
  { ListWriter writer(folder / "t.json"); }
  EXPECT_THAT(folder.names(), testing::IsEmpty());
}

}  // namespace
}  // namespace mindtorch::exporter
