// The container: chunks come back, damage is found and located, lengths are not trusted.
#include "mindtorch/trace/chunk_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <csignal>
#include <thread>

#include "mindtorch/base/error.h"
#include "tests/trace/memory_file.h"

namespace mindtorch::trace {
namespace {

constexpr ChunkType kOne = make_chunk_type("ONE ");
constexpr ChunkType kTwo = make_chunk_type("TWO ");

std::string file_of(const std::vector<std::pair<ChunkType, std::string>>& chunks) {
  const MemoryFile file;
  ChunkWriter writer(file.fd(), "f", 1);
  for (const auto& [type, payload] : chunks) writer.write(type, payload);
  EXPECT_EQ(file.bytes().size(), writer.offset());
  return file.bytes();
}

void put_u32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

// Makes the checksum of the chunk at `at` right again, as a hostile writer would.
void seal(std::string& bytes, std::size_t at, std::size_t stored) {
  const std::uint64_t sum = XXH3_64bits_withSeed(&bytes[at + 8], 12 + stored, at);
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(sum >> (8 * i));
}

TEST(ChunkFile, ChunksComeBackInOrder) {
  const std::string bytes = file_of({{kOne, "payload"}, {kTwo, ""}, {kOne, std::string(1 << 20, 'x')}});
  ChunkReader reader(bytes, "f");
  std::optional<Chunk> chunk = reader.next();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->type, kOne);
  EXPECT_EQ(chunk->offset, 16u);
  EXPECT_EQ(std::string(chunk->payload.begin(), chunk->payload.end()), "payload");
  chunk = reader.next();
  EXPECT_EQ(chunk->type, kTwo);
  EXPECT_TRUE(chunk->payload.empty());
  EXPECT_EQ(reader.next()->payload.size(), std::size_t{1} << 20);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.damage());
  EXPECT_EQ(reader.offset(), bytes.size());
}

TEST(ChunkFile, TheTypeIsReadableInTheFile) { EXPECT_EQ(file_of({{kOne, "x"}}).substr(16 + 8, 4), "ONE "); }

TEST(ChunkFile, DamageIsFoundWhereItIs) {
  std::string bytes = file_of({{kOne, "first"}, {kTwo, "second"}});
  bytes.back() ^= 1;
  ChunkReader reader(bytes, "f");
  const std::size_t second = [&] {
    reader.next();
    return reader.offset();
  }();
  EXPECT_FALSE(reader.next());
  ASSERT_TRUE(reader.damage());
  EXPECT_EQ(reader.offset(), second);
  EXPECT_FALSE(reader.next()) << "nothing is read behind damage";
}

TEST(ChunkFile, ADamagedChunkCanBeSteppedOverIfItsLengthIsSound) {
  const std::string good = file_of({{kOne, "first"}, {kTwo, "second"}});
  ChunkReader whole(good, "f");
  EXPECT_FALSE(whole.skip_damaged()) << "nothing is damaged";
  std::string bytes = good;
  bytes[16] ^= 1;  // of the first checksum
  ChunkReader reader(bytes, "f");
  EXPECT_FALSE(reader.next());
  ASSERT_TRUE(reader.skip_damaged());
  const std::optional<Chunk> second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, kTwo);
  EXPECT_FALSE(reader.damage());
  for (const std::uint32_t length : {0U, 5U, UINT32_MAX}) {
    put_u32(bytes, 16 + 16, length);
    ChunkReader lost(bytes, "f");
    EXPECT_FALSE(lost.next());
    while (lost.skip_damaged()) EXPECT_FALSE(lost.next()) << "what follows a corrupt length is no chunk";
  }
}

TEST(ChunkFile, AChunkInAnotherPlaceIsDamage) {
  const std::string one = file_of({{kOne, "first"}, {kOne, "first"}});
  const std::size_t size = (one.size() - 16) / 2;
  const std::string swapped = one.substr(0, 16) + one.substr(16 + size) + one.substr(16, size);
  EXPECT_FALSE(ChunkReader(swapped, "f").next());
}

TEST(ChunkFile, SealedLiesAboutSizesAreDamage) {
  const std::string good = file_of({{kOne, "payload"}});
  const std::size_t stored = good.size() - 16 - 20;
  const auto rejected = [&](std::uint32_t raw_size, std::size_t stored_size) {
    std::string bytes = good;
    put_u32(bytes, 16 + 12, raw_size);
    put_u32(bytes, 16 + 16, static_cast<std::uint32_t>(stored_size));
    seal(bytes, 16, std::min(stored_size, stored));
    ChunkReader reader(bytes, "f");
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.damage());
  };
  rejected(6, stored);
  rejected(8, stored);
  rejected(UINT32_MAX, stored);
  rejected(7, UINT32_MAX);
  rejected(7, stored + 1);
}

TEST(ChunkFile, TheHeaderDecidesWhatAFileIs) {
  const std::string good = file_of({});
  EXPECT_TRUE(has_magic(good));
  EXPECT_THROW(ChunkReader(good.substr(0, 7), "f"), InvalidArgument);
  for (std::size_t size = 8; size < 16; ++size) EXPECT_TRUE(ChunkReader(good.substr(0, size), "f").damage()) << size;
  std::string other = good;
  other[8] = kFormatMajor + 1;
  EXPECT_THROW(ChunkReader(other, "f"), InvalidArgument);
  other = good;
  std::swap(other[12], other[15]);
  EXPECT_THROW(ChunkReader(other, "f"), InvalidArgument);
  other = good;
  other[9] = kFormatMinor + 1;
  EXPECT_TRUE(ChunkReader(other, "f").newer_minor());
  EXPECT_FALSE(ChunkReader(good, "f").newer_minor());
}

TEST(ChunkFile, WhatCannotBeWrittenIsAnIoErrorThatNamesThePath) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  try {
    ChunkWriter writer(fd, "some/path", 1);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), ENOSPC);
    EXPECT_EQ(error.path(), "some/path");
  }
  ::close(fd);
}

TEST(ChunkFile, AfterATornWriteThatCannotBeUndoneNothingFollows) {
  // A pipe cannot be cut back. Its reader takes the header and one byte of the chunk, then goes away.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  ChunkWriter writer(ends[1], "pipe", 1);
  std::string noise(4 << 20, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  std::thread reader([&] {
    std::string buffer(17, '\0');
    std::size_t got = 0;
    while (got < buffer.size()) got += static_cast<std::size_t>(::read(ends[0], buffer.data(), buffer.size() - got));
    ::close(ends[0]);
  });
  EXPECT_THROW(writer.write(kOne, noise), IoError);
  reader.join();
  EXPECT_THROW(writer.write(kOne, "x"), IoError);
  ::close(ends[1]);
  std::signal(SIGPIPE, old_handler);
}

TEST(ChunkFile, ChunksOverTheLimitAreRefused) {
  const MemoryFile file;
  ChunkWriter writer(file.fd(), "f", 1);
  const Column<char> large(kMaxRawChunk + 1);
  EXPECT_THROW(writer.write(kOne, large), InvalidArgument);
  EXPECT_EQ(writer.offset(), 16u);
}

}  // namespace
}  // namespace mindtorch::trace
