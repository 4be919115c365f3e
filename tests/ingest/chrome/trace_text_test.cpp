// Cutting a trace into pieces: together they are the text, and each is a document.
#include "mindtorch/ingest/chrome/trace_text.h"

#include <gmock/gmock.h>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/ingest/gzip_text.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest::chrome {
namespace {

using tests::TemporaryFolder;

std::string whole(const TextPiece& piece) { return std::string(piece.prefix) + std::string(piece.text) + std::string(piece.suffix); }

std::string trace_of_torch() {
  trace::MemoryBudget budget;
  return std::string(decompress_gzip(read_file(MINDTORCH_TEST_DATA "/torch_2.11_cuda.json.gz"), 0, budget).view());
}

TEST(TraceText, EveryPieceOfOurFormatIsADocument) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::large_recording(2000), folder / "t.json");
  const std::string text = read_file(folder / "t.json");
  const std::vector<TextPiece> pieces = cut_between_events({"", text, ""}, 20000);
  EXPECT_GT(pieces.size(), 10U);
  std::size_t size = 0;
  for (const TextPiece& piece : pieces) {
    EXPECT_TRUE(is_json(whole(piece)));
    size += piece.text.size();
  }
  EXPECT_LE(text.size() - size, pieces.size() * 2);  // commas and newlines
}

TEST(TraceText, EveryPieceOfTorchsFormatIsADocument) {
  const std::string text = trace_of_torch();
  const std::vector<TextPiece> pieces = cut_between_events({"", text, ""}, 20000);
  EXPECT_GT(pieces.size(), 10U);
  for (const TextPiece& piece : pieces) EXPECT_TRUE(is_json(whole(piece)));
}

TEST(TraceText, APieceCanBeCutAgain) {
  const std::string text = trace_of_torch();
  std::size_t events = 0;
  for (const TextPiece& piece : cut_between_events({"", text, ""}, 20000)) {
    for (const TextPiece& smaller : cut_between_events(piece, 1)) {
      EXPECT_TRUE(is_json(whole(smaller))) << whole(smaller);
      ++events;
    }
  }
  EXPECT_GT(events, 1000U);
}

TEST(TraceText, ATextWithoutLinesIsCutToo) {
  for (const std::string separator : {",", ", "}) {
    std::string text = "[";
    for (int i = 0; i < 1000; ++i) text += R"({"ph":"X","name":"a","ts":1,"dur":1})" + separator;
    text.resize(text.size() - separator.size());
    text += "]";
    const std::vector<TextPiece> pieces = cut_between_events({"", text, ""}, 1000);
    EXPECT_GT(pieces.size(), 30U);
    for (const TextPiece& piece : pieces) EXPECT_TRUE(is_json(whole(piece)));
  }
}

TEST(TraceText, TextsThatLookLikeEventsAreNotCut) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += R"({"name":"}, {\"ph\":","ph":"X","args":{"list":["}, {", "ph"]}},)";
  text.back() = ']';
  EXPECT_TRUE(is_json(text));
  EXPECT_EQ(cut_between_events({"", text, ""}, 100).size(), 1U);
}

TEST(TraceText, RunsOfEmptyLinesAreLookedAtOnce) {
  // Looked at once per line, this would take hours.
  const std::string lines = "{\n" + std::string(std::size_t{4} << 20, '\n') + "}";
  const std::vector<TextPiece> pieces = cut_between_events({"", lines, ""}, 1000);
  EXPECT_EQ(pieces.size(), 1U);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
