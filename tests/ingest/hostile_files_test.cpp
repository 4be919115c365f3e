// Files made to hurt: readers take time and memory in proportion to the file, refuse what needs more, and never crash.
#include <gmock/gmock.h>
#include <libdeflate.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/ingest/chrome/chrome_reader.h"
#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/trace/file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

// Counts what is allocated with operator new, in this program and in the library.
namespace {
std::atomic<std::size_t> live = 0, peak = 0;

void* counted(std::size_t size, const std::nothrow_t&) noexcept {
  void* const at = std::malloc(size);
  if (at == nullptr) return nullptr;
  const std::size_t now = live += ::malloc_usable_size(at);
  std::size_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return at;
}

void* counted(std::size_t size) {
  if (void* const at = counted(size, std::nothrow)) return at;
  throw std::bad_alloc();
}

void uncounted(void* at) noexcept {
  if (at == nullptr) return;
  live -= ::malloc_usable_size(at);
  std::free(at);
}
}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
// Standard libraries may make these of the ones above, but AddressSanitizer brings its own, and that memory is not for free().
void* operator new(std::size_t size, const std::nothrow_t& none) noexcept { return counted(size, none); }
void* operator new[](std::size_t size, const std::nothrow_t& none) noexcept { return counted(size, none); }
void operator delete(void* at) noexcept { uncounted(at); }
void operator delete[](void* at) noexcept { uncounted(at); }
void operator delete(void* at, std::size_t) noexcept { uncounted(at); }
void operator delete[](void* at, std::size_t) noexcept { uncounted(at); }

namespace mindtorch::ingest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::TemporaryFolder;

std::string compressed(std::string_view text) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(1);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string event(std::string_view rest, int time = 1) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{},"dur":1{}}})", time, rest);
}

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

// The byte that an error of a reader names.
std::size_t offset_in(const std::string& message) {
  constexpr std::string_view kWord = "from byte ";
  const std::size_t at = message.find(kWord);
  return at == std::string::npos ? 0 : std::stoull(message.substr(at + kWord.size()));
}

// The most memory that read() takes.
template <class Read>
std::size_t memory_of(Read read) {
  const std::size_t before = live;
  peak = before;
  refusal(read);
  return peak - before;
}

TEST(HostileFiles, NestedListsDoNotOverflowTheStack) {
  for (const char* key : {"Input Dims", "Input Strides", "Input type", "stack", "anything"}) {
    const std::string nested = std::string(70000, '[') + std::string(70000, ']');
    const ChromeReadResult result = read_chrome_bytes("[" + event(fmt::format(R"(,"args":{{"{}":{}}})", key, nested)) + "]", "t");
    EXPECT_EQ(check_invariants(result.recording), "") << key;
  }
}

TEST(HostileFiles, MillionsOfEmptyLinesAreReadAtOnce) {
  const std::string text = "[" + event("") + "," + std::string(std::size_t{4} << 20, '\n') + event("", 2) + "]";
  EXPECT_EQ(read_chrome_bytes(text, "t").recording.events.size(), 2U);
}

TEST(HostileFiles, ManyRowsCategoriesAndDamagedEventsAreReadInLinearTime) {
  std::string text = "[\n";
  for (int i = 0; i < 60000; ++i) {
    text += fmt::format("{{\"ph\":\"X\",\"cat\":\"c{0}\",\"name\":\"n{0}\",\"pid\":{0},\"tid\":{0},\"ts\":{0},\"dur\"{1}1}},\n", i,
                        i % 3 == 0 ? "" : ":");
  }
  text += event("") + "\n]";
  const ChromeReadResult result = read_chrome_bytes(text, "t");
  EXPECT_EQ(result.skipped.at("damaged"), 20000U);
  EXPECT_EQ(result.recording.events.size(), 40001U);
  EXPECT_THAT(*result.damage, AllOf(HasSubstr("20000 of 60001 events cannot be read"), HasSubstr("at or after byte")));
}

TEST(HostileFiles, AnEventWithMillionsOfArgumentsIsRefused) {
  std::string dims = "[]";
  for (int i = 0; i < 1000000; ++i) dims += ",[]";
  const std::string text = "[" + event(R"(,"args":{"Input Dims":[)" + dims + "]}") + "]";
  const std::string message = refusal([&] { read_chrome_bytes(text, "wide.json"); });
  EXPECT_THAT(message, AllOf(HasSubstr("wide.json"), HasSubstr("of the text on, for its events"), HasSubstr("max_memory")));
  EXPECT_GT(offset_in(message), text.find("Input Dims"));
  EXPECT_LT(offset_in(message), text.size());
  EXPECT_LE(memory_of([&] { read_chrome_bytes(text, "wide.json"); }), default_memory(text.size(), FileKind::kPlain));
  EXPECT_EQ(read_chrome_bytes(text, "wide.json", {.max_memory = kUnlimitedMemory}).recording.events.size(), 1U);
}

// The parser takes eight times a piece of the text, so that the events find room for a part of them.
TEST(HostileFiles, AnErrorOfMemorySaysHowFarTheTextWasRead) {
  std::string text = "[\n";
  for (int i = 0; i < 20000; ++i) text += event("", i) + ",\n";
  text += event("") + "\n]";
  const std::string message = refusal([&] { read_chrome_bytes(text, "long.json", {.max_memory = text.size() * 4, .threads = 1}); });
  EXPECT_THAT(message, AllOf(HasSubstr("'long.json' needs more than"), HasSubstr("of the text on, for its events")));
  EXPECT_GT(offset_in(message), text.size() / 100);
  EXPECT_LT(offset_in(message), text.size());
}

TEST(HostileFiles, AFileLargerThanTheMemoryThatMayBeTakenIsNotRead) {
  const TemporaryFolder folder;
  const std::string text = "[" + event("") + std::string(100000, ' ') + "]";
  {
    AtomicFile file(folder / "t.json");
    file.write(text);
    file.commit();
  }
  for (const std::string& message : {refusal([&] { read_chrome_trace(folder / "t.json", {.max_memory = 1000}); }),
                                     refusal([&] { read_chrome_bytes(text, "t.json", {.max_memory = 1000}); })})
    EXPECT_THAT(message, AllOf(HasSubstr("t.json' needs more than 1000 bytes"), HasSubstr("from byte 1000 of the file on, for its bytes")));
}

TEST(HostileFiles, NumbersThatAreFarTooLargeAreLeftOut) {
  const std::string far = "9223372036854775807";
  std::string text = R"({"baseTimeNanoseconds":)" + far + R"(,"mindtorch":{"version":1,"timeline_zero_unix_ns":-)" + far +
                     R"(,"window_ns":[-)" + far + "," + far + R"(],"steps":[[)" + far + R"(,1]],"memory_tags":[[-)" + far +
                     R"(,1,77]]},"traceEvents":[)";
  text += event(R"(,"args":{"Sequence number":)" + far + R"(,"Fwd thread id":)" + far + R"(,"Total Allocated":-)" + far + "}");
  text += R"(,{"ph":"X","name":"b","ts":9e15,"dur":9e15},{"ph":"i","name":"c","ts":-2305843009213693.951}]})";
  const ChromeReadResult result = read_chrome_bytes(text, "t");
  EXPECT_EQ(check_invariants(result.recording), "");
  EXPECT_EQ(result.recording.events.size(), 2U);
  for (trace::EventIndex i = 0; i < 2; ++i) EXPECT_EQ(trace::sequence_of(result.recording.events.link[i]), -1);
}

// One scope after another, `period_ns` apart and half as long; `jitter_ns` adds up to so many nanoseconds to each time. Without jitter all
// columns but the starts hold equal values, which compress to nothing.
std::string repetitive_recording(std::size_t events, std::int64_t period_ns, std::uint32_t jitter_ns) {
  trace::Recording recording;
  recording.tracks.push_back({});
  recording.tracks[0].event_count = static_cast<trace::EventIndex>(events);
  recording.events.resize(events);
  std::minstd_rand draw;
  const auto jitter = [&] { return static_cast<std::int64_t>(jitter_ns == 0 ? 0 : draw() % jitter_ns); };
  for (std::size_t i = 0; i < events; ++i) {
    recording.events.start_ns[i] = static_cast<std::int64_t>(i) * period_ns + jitter();
    recording.events.duration_ns[i] = period_ns / 2 + jitter();
    recording.events.name[i] = 0;
    recording.events.link[i] = 0;
    recording.events.device[i] = {};
    recording.events.kind[i] = trace::EventKind::kOp;
    recording.events.flags[i] = 0;
  }
  const TemporaryFolder folder;
  trace::save(recording, folder / "r.mtrec");
  return read_file(folder / "r.mtrec");
}

TEST(HostileFiles, ATightLoopIsReadThoughItCompressesToLessThanAByteForEachEvent) {
  constexpr std::size_t kEvents = 1000000;
  const std::string file = repetitive_recording(kEvents, 200, 3);
  ASSERT_LT(file.size(), kEvents);
  EXPECT_EQ(load_recording_bytes(file, "loop.mtrec").recording.events.size(), kEvents);
  EXPECT_LT(memory_of([&] { load_recording_bytes(file, "loop.mtrec"); }), default_memory(file.size(), FileKind::kRecording) / 2);
}

TEST(HostileFiles, AFewBytesOfARecordingCannotTakeAllMemory) {
  constexpr std::size_t kEvents = 4000000;
  const std::string file = repetitive_recording(kEvents, 0, 0);
  ASSERT_LT(file.size(), 20000U);
  EXPECT_THAT(refusal([&] { load_recording_bytes(file, "tiny.mtrec"); }),
              AllOf(HasSubstr("tiny.mtrec"), HasSubstr("from byte"), HasSubstr("of the file on, for"), HasSubstr("--max-memory")));
  EXPECT_LE(memory_of([&] { load_recording_bytes(file, "tiny.mtrec"); }), default_memory(file.size(), FileKind::kRecording));
  EXPECT_EQ(load_recording_bytes(file, "tiny.mtrec", {.max_memory = kUnlimitedMemory}).recording.events.size(), kEvents);
}

TEST(HostileFiles, AGzipOfSomethingElseIsRefusedByItsBeginning) {
  const std::string zeros = compressed(std::string(std::size_t{64} << 20, '\0'));
  EXPECT_THAT(refusal([&] { read_chrome_bytes(zeros, "zeros.json.gz"); }), HasSubstr("'zeros.json.gz' is not a Chrome trace"));
  EXPECT_LT(memory_of([&] { read_chrome_bytes(zeros, "zeros.json.gz"); }), std::size_t{1} << 20);
}

TEST(HostileFiles, AGzipOfBlanksTakesNoMoreThanItMay) {
  const std::string blanks = compressed("[" + std::string(std::size_t{96} << 20, ' ') + "]");
  EXPECT_THAT(refusal([&] { read_chrome_bytes(blanks, "blanks.json.gz"); }),
              AllOf(HasSubstr("'blanks.json.gz' needs more than"), HasSubstr("from byte 0 of the file on, for its decompressed text")));
  EXPECT_LE(memory_of([&] { read_chrome_bytes(blanks, "blanks.json.gz"); }), default_memory(blanks.size(), FileKind::kGzip));
}

TEST(HostileFiles, ACutGzipIsReadAsFarAsItGoes) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::large_recording(2000), folder / "t.json");
  std::string file = compressed(read_file(folder / "t.json"));
  const std::size_t whole = read_chrome_bytes(file, "t.json.gz").recording.events.size();
  file.resize(file.size() / 2);
  const ChromeReadResult result = read_chrome_bytes(file, "t.json.gz");
  EXPECT_GT(result.recording.events.size(), whole / 4);
  EXPECT_LT(result.recording.events.size(), whole);
  EXPECT_THAT(*result.damage, AllOf(HasSubstr("the gzip data is damaged at byte"), HasSubstr("what follows is lost")));
  EXPECT_EQ(result.recording.losses.back().reason, trace::LossReason::kDamagedFile);
  EXPECT_EQ(check_invariants(result.recording), "");
}

}  // namespace
}  // namespace mindtorch::ingest
