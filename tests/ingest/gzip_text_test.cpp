// Decompressing gzip files: whole, of many members, cut, corrupt, and with sizes that lie.
#include "mindtorch/ingest/gzip_text.h"

#include <gmock/gmock.h>
#include <libdeflate.h>

namespace mindtorch::ingest {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::string compressed(std::string_view text) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

GzipText decompressed(std::string_view bytes, std::uint64_t memory = trace::MemoryBudget::kUnlimited) {
  trace::MemoryBudget budget(memory);
  return decompress_gzip(bytes, 8, budget);
}

std::string numbers() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919) + ",";
  return text;
}

TEST(GzipText, ManyMembersAreOneTextWithPaddingBehindIt) {
  const GzipText result = decompressed(compressed("hello ") + compressed("") + compressed("world"));
  EXPECT_EQ(result.view(), "hello world");
  EXPECT_FALSE(result.damage);
  EXPECT_EQ(result.text[result.size + 7], '\0');
}

TEST(GzipText, ACutFileGivesAllThatCanBeDecompressed) {
  const std::string text = numbers(), whole = compressed(text);
  std::size_t last = 0;
  for (const std::size_t size : {whole.size() / 4, whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    const GzipText result = decompressed(std::string_view(whole).substr(0, size));
    EXPECT_TRUE(std::string_view(text).starts_with(result.view()));
    EXPECT_GE(result.size, last);
    EXPECT_GT(result.size, 0U);
    EXPECT_THAT(result.damage, Optional(HasSubstr("damaged at byte")));
    last = result.size;
  }
  EXPECT_EQ(last, text.size());
}

TEST(GzipText, ASizeThatLiesCostsNoMemory) {
  std::string lying = compressed(numbers());
  lying.replace(lying.size() - 4, 4, "\xFF\xFF\xFF\xFF");
  const GzipText result = decompressed(lying, std::uint64_t{1} << 20);
  EXPECT_EQ(result.view(), numbers());
  EXPECT_TRUE(result.damage);
}

TEST(GzipText, ATextLargerThanTheBudgetIsRefused) {
  const std::string zeros = compressed(std::string(std::size_t{8} << 20, '0'));
  EXPECT_THROW(decompressed(zeros, std::uint64_t{4} << 20), trace::BudgetExceeded);
  EXPECT_EQ(decompressed(zeros, std::uint64_t{64} << 20).size, std::size_t{8} << 20);
}

TEST(GzipText, TheBeginningIsSeenWithoutTheRest) {
  EXPECT_EQ(gzip_beginning(compressed(numbers()), 5), numbers().substr(0, 5));
  EXPECT_EQ(gzip_beginning("\x1F\x8Bnonsense", 5), "");
}

}  // namespace
}  // namespace mindtorch::ingest
