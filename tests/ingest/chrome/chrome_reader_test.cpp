// The Chrome reader: what we wrote comes back whole, what torch wrote is understood, and nothing makes it crash.
#include "mindtorch/ingest/chrome/chrome_reader.h"

#include <gmock/gmock.h>

#include <array>
#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/same_recording.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest {
namespace {

using testing::HasSubstr;
using tests::TemporaryFolder;
using trace::EventKind;

ChromeReadResult read_text(std::string_view text, const char* name = "t.json") {
  const TemporaryFolder folder;
  exporter::write_output(folder / name, text);
  return read_chrome_trace(folder / name);
}

TEST(ChromeReader, WhatThisLibraryWroteComesBackWhole) {
  const TemporaryFolder folder;
  for (const auto& [name, recording] : tests::sample_recordings()) {
    if (name == "hostile") continue;
    for (const char* file : {"t.json", "t.json.gz"}) {
      exporter::write_chrome_trace(recording, folder / file);
      const ChromeReadResult result = read_chrome_trace(folder / file);
      EXPECT_FALSE(result.damage);
      EXPECT_EQ(tests::first_difference(recording, result.recording), "") << name << " " << file;
      EXPECT_EQ(check_invariants(result.recording), "");
    }
  }
}

// Looks have no duration in such a file; nothing else is missing.
TEST(ChromeReader, ProfilesOfThreadsAreNotReadBack) {
  const TemporaryFolder folder;
  trace::Recording recording = tests::sampled_recording();
  exporter::write_chrome_trace(recording, folder / "t.json");
  const ChromeReadResult result = read_chrome_trace(folder / "t.json");
  EXPECT_FALSE(result.damage);
  EXPECT_EQ(result.recording.events.size(), recording.events.size());
  EXPECT_EQ(result.recording.samples.size(), 0U);
  EXPECT_TRUE(result.recording.losses.empty());
}

TEST(ChromeReader, JsonThatIsNoTraceIsRefusedByWhatItIs) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      read_text(text);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_THAT(refusal(R"({"hello": [1, 2]})"), HasSubstr("is not a Chrome trace: it is JSON without traceEvents"));
  EXPECT_THAT(refusal(R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"), HasSubstr("it is an execution trace"));
  EXPECT_EQ(refusal(R"({"traceEvents": []})"), "not refused");
  EXPECT_EQ(refusal("[]"), "not refused");
}

// Kineto has categories for devices that no source here records.
TEST(ChromeReader, WorkAndRangesOfOtherDevicesAreWorkAndRanges) {
  const auto kind_of = [](std::string_view category, std::string_view arguments) {
    const ChromeReadResult result =
        read_text(fmt::format(R"([{{"ph":"X","cat":"{}","name":"n","ts":1,"dur":2,"pid":0,"tid":7,"args":{{{}}}}}])", category, arguments));
    return result.recording.events.kind[0];
  };
  EXPECT_EQ(kind_of("mtia_ccp_events", R"("External id":3)"), EventKind::kKernel);
  EXPECT_EQ(kind_of("hpu_op", ""), EventKind::kKernel);
  EXPECT_EQ(kind_of("cuda_profiler_range", ""), EventKind::kDeviceScope);
  EXPECT_EQ(kind_of("mtia_insight", ""), EventKind::kDeviceScope);
  EXPECT_EQ(kind_of("of_tomorrow", R"("stream":7,"correlation":9)"), EventKind::kKernel) << "only work has a stream";
  EXPECT_EQ(kind_of("of_tomorrow", ""), EventKind::kOp);
}

TEST(ChromeReader, ASpanOfAScopeIsOfTheWorkThatItBeginsWith) {
  const ChromeReadResult result = read_text(R"([
    {"ph":"X","cat":"gpu_user_annotation","name":"s","ts":1,"dur":9,"pid":3,"tid":7,"args":{"External id":5}},
    {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"pid":3,"tid":7,"args":{"device":3,"stream":7,"correlation":41}}])");
  const trace::EventColumns& events = result.recording.events;
  EXPECT_EQ(events.kind[0], EventKind::kDeviceScope);
  EXPECT_EQ(events.link[0], 41U);
  EXPECT_EQ(events.device[0].index, 3);
}

// Escapes are rare, so they have a way of their own.
TEST(ChromeReader, EscapesInNamesKeysAndValuesAreResolved) {
  const ChromeReadResult result =
      read_text(R"([{"ph":"X","name":"a\u0062\"c","ts":1,"dur":2.0005,"pid":1,"tid":1,"args":{"k\ney":"v\\w","list":[{"a":"]"}]}}])");
  const trace::Recording& recording = result.recording;
  ASSERT_EQ(recording.events.size(), 1U);
  EXPECT_EQ(recording.name(0), "ab\"c");
  EXPECT_EQ(recording.events.duration_ns[0], 2001);
  const auto attributes = recording.attributes.find(0);
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(recording.names[attributes[0].key], "k\ney");
  EXPECT_EQ(recording.names[static_cast<std::size_t>(attributes[0].bits)], "v\\w");
  EXPECT_EQ(recording.names[static_cast<std::size_t>(attributes[1].bits)], R"([{"a":"]"}])");
  EXPECT_TRUE(read_text(R"([{"ph":"X","name":"\x","ts":1,"dur":1}])").damage);
}

// Bytes that are no UTF-8 cannot come back; from then on nothing changes any more.
TEST(ChromeReader, HostileNamesComeBackAsValidText) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::hostile_recording(), folder / "1.json");
  const trace::Recording first = read_chrome_trace(folder / "1.json").recording;
  exporter::write_chrome_trace(first, folder / "2.json");
  const trace::Recording second = read_chrome_trace(folder / "2.json").recording;
  EXPECT_EQ(tests::first_difference(first, second), "");
  std::vector<std::string> names;
  for (trace::EventIndex i = 0; i < first.events.size(); ++i) names.emplace_back(first.name(i));
  for (const std::string& name : tests::hostile_names()) {
    if (name.starts_with("bad utf-8")) continue;
    EXPECT_THAT(names, testing::Contains(name));
  }
}

TEST(ChromeReader, ALargeFileReadInPiecesIsTheSameRecording) {
  const TemporaryFolder folder;
  const trace::Recording recording = tests::large_recording(60000);
  exporter::write_chrome_trace(recording, folder / "t.json");
  ASSERT_GT(std::filesystem::file_size(folder / "t.json"), std::size_t{8} << 20);
  const ChromeReadResult result = read_chrome_trace(folder / "t.json");
  EXPECT_EQ(tests::first_difference(recording, result.recording), "");
}

TEST(ChromeReader, SideDataSurvivesTheCutBetweenPieces) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1, "main", 1);
  for (int i = 0; i < 40000; ++i) {
    const auto op =
        builder.add_event({.name = i % 3 == 0 ? "aten::mm" : "aten::add", .track = track, .start_ns = i * 100, .duration_ns = 50});
    trace::Input text;
    text.kind = trace::Input::Kind::kText;
    text.text = builder.intern(i % 2 == 0 ? "even" : "odd");
    builder.set_inputs(op, std::array{text});
    builder.set_stack(op, std::array{trace::Frame{builder.intern("f.py"), builder.intern(i < 20000 ? "early" : "late"), i % 7}});
    builder.add_attribute(op, "text", i % 5 == 0 ? "five" : "other");
    builder.add_memory(i * 100 + 10, track, {}, 0x1000, i % 2 == 0 ? 64 : -64, 64, 64);
  }
  const trace::Recording recording = builder.finish();
  const TemporaryFolder folder;
  exporter::write_chrome_trace(recording, folder / "t.json");
  EXPECT_EQ(tests::first_difference(recording, read_chrome_trace(folder / "t.json").recording), "");
}

TEST(ChromeReader, TorchsArgumentsBecomeLinksInputsAndMemoryReports) {
  const trace::Recording recording = read_chrome_trace(MINDTORCH_TEST_DATA "/torch_2.11_cuda.json.gz").recording;
  EXPECT_EQ(check_invariants(recording), "");
  EXPECT_TRUE(recording.options.shapes && recording.options.stacks && recording.options.memory);
  EXPECT_EQ(recording.trace_id, "AF645F25E031463EBE960B6D4C5422B0");
  EXPECT_EQ(recording.tracks.size(), 3U);
  EXPECT_EQ(recording.steps, (std::vector<trace::StepMark>{{598364, 2}, {6111714, 3}}));
  EXPECT_EQ(recording.memory.size(), 64U);
  EXPECT_EQ(recording.memory.device[0], (trace::Device{trace::DeviceType::kCuda, 0}));
  std::map<EventKind, int> kinds;
  for (const EventKind kind : recording.events.kind) ++kinds[kind];
  EXPECT_EQ(kinds[EventKind::kKernel], 38);
  EXPECT_EQ(kinds[EventKind::kMemcpy], 2);
  EXPECT_EQ(kinds[EventKind::kRuntime], 51);
  EXPECT_EQ(kinds[EventKind::kStep], 2);
  EXPECT_EQ(kinds[EventKind::kScope], 6);
  EXPECT_EQ(kinds[EventKind::kOp] + kinds[EventKind::kBackward], 186);
  EXPECT_EQ(kinds[EventKind::kPythonFunction] + kinds[EventKind::kModule], 746);
}

TEST(ChromeReader, TheInputsOfTorchsConv2dAreRead) {
  const trace::Recording recording = read_chrome_trace(MINDTORCH_TEST_DATA "/torch_2.11_cpu.json.gz").recording;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.name(i) != "aten::conv2d") continue;
    const std::vector<trace::Input> inputs = trace::decode_inputs(recording.inputs.find(i));
    ASSERT_EQ(inputs.size(), 7U);
    EXPECT_EQ(inputs[0].sizes, (std::vector<std::int64_t>{2, 3, 8, 8}));
    EXPECT_EQ(inputs[0].dtype, trace::ScalarType::kFloat);
    EXPECT_EQ(inputs[0].strides, (std::vector<std::int64_t>{192, 64, 8, 1}));
    EXPECT_EQ(inputs[3].kind, trace::Input::Kind::kIntList);
    EXPECT_EQ(inputs[3].sizes, (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(inputs[6].kind, trace::Input::Kind::kInt);
    EXPECT_EQ(inputs[6].integer, 1);
    return;
  }
  FAIL() << "no aten::conv2d";
}

TEST(ChromeReader, TimesAreExactToTheNanosecond) {
  const trace::Recording recording = read_text(R"({"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 3853721725500.665, "dur": 0.001},
        {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 3853721725500.67, "dur": 12},
        {"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": "3853721725501", "dur": 1e1}]})")
                                         .recording;
  ASSERT_EQ(recording.events.size(), 3U);
  EXPECT_EQ(recording.clock.base_unix_ns, 1790857026000000000 + 3853721725500665);
  EXPECT_THAT(recording.events.start_ns, testing::ElementsAre(0, 5, 335));
  EXPECT_THAT(recording.events.duration_ns, testing::ElementsAre(1, 12000, 10000));
}

TEST(ChromeReader, TimesCanBeReadWithoutStacksAndTheInputsOfOps) {
  const TemporaryFolder folder;
  exporter::write_output(folder / "t.json", R"([
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2,
     "args":{"Input Dims":[[2,3],[3,4]],"Input type":["float","float"],"Call stack":"a.py(1): f;b.py(2): g","Sequence number":5}},
    {"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":1,"tid":2,"ts":4,"dur":2,
     "args":{"Input Dims":[[10]],"Input type":["float"],"stack":["a.py:1:f"]}}])");
  const trace::Recording all = read_chrome_trace(folder / "t.json").recording;
  EXPECT_EQ(all.inputs.events.size(), 2U);
  EXPECT_EQ(all.stacks.of_event.events.size(), 2U);
  const trace::Recording times = read_chrome_trace(folder / "t.json", {.times_only = true}).recording;
  EXPECT_EQ(times.events.start_ns, all.events.start_ns);
  EXPECT_EQ(times.events.duration_ns, all.events.duration_ns);
  EXPECT_EQ(times.events.link, all.events.link);
  ASSERT_EQ(times.inputs.events.size(), 1U) << "the size of a collective is kept";
  EXPECT_EQ(times.name(times.inputs.events[0]), "gloo:all_reduce");
  EXPECT_TRUE(times.stacks.of_event.empty());
}

TEST(ChromeReader, TimesCanBeReadWithTheAttributesThatAreNamed) {
  const TemporaryFolder folder;
  exporter::write_output(folder / "t.json", R"json([
    {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"thread 1 (loader)"}},
    {"ph":"X","cat":"cpu_op","name":"aten::add.Tensor","pid":1,"tid":1,"ts":1,"dur":2,"args":{"overload_name":"Tensor","other":[1,2]}},
    {"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":3,"dur":2,
     "args":{"grid":[1,2,3],"warps per SM":1.5,"Seq":4,"dtype":"Float","stream":7}}])json");
  const std::array<std::string_view, 2> kept = {"Seq", "dtype"};
  const trace::Recording times = read_chrome_trace(folder / "t.json", {.times_only = true, .attributes = kept}).recording;
  ASSERT_EQ(times.events.size(), 2U);
  EXPECT_EQ(times.tracks[0].name, "loader");
  EXPECT_EQ(times.tracks[1].id, 7);
  EXPECT_EQ(times.name(0), "aten::add");
  std::vector<std::string> keys;
  for (const trace::Attribute& attribute : times.attributes.find(1)) keys.push_back(times.names[attribute.key]);
  EXPECT_THAT(keys, testing::ElementsAre("Seq", "dtype"));
}

TEST(ChromeReader, ABareListAndAnyOrderOfFieldsAreRead) {
  const ChromeReadResult result =
      read_text(R"([{"args":{"Sequence number":4},"dur":5,"ts":10,"tid":2,"pid":1,"name":"aten::mul","cat":"cpu_op","ph":"X"},
      {"name": "cpu", "ph": "X", "ts": 1, "dur": 2, "tid": 2, "pid": "CPU functions", "args": {}}, 7, {}, {"ph":"P","name":"x"}, {"ph":"X","name":"no time"}])");
  EXPECT_FALSE(result.damage);
  EXPECT_EQ(result.elements, 6U);
  ASSERT_EQ(result.recording.events.size(), 2U);
  EXPECT_EQ(trace::sequence_of(result.recording.events.link[0]), 4);
  EXPECT_EQ(result.skipped, (std::map<std::string, std::uint64_t>{{"no phase", 1}, {"no time", 1}, {"not an object", 1}, {"phase P", 1}}));
}

TEST(ChromeReader, CountersAreReadByNameUnitAndProcess) {
  const trace::Recording recording = read_text(R"([{"ph":"X","cat":"cpu_op","name":"op","pid":437,"tid":437,"ts":1,"dur":9,"args":{}},
      {"ph":"C","name":"power","pid":1,"tid":0,"ts":5,"args":{"W":300.5}}, {"ph":"C","name":"power","pid":1,"tid":0,"ts":3,"args":{"W":290}},
      {"ph":"C","name":"load","pid":437,"tid":0,"ts":2,"args":{"value":1,"what":"text"}}, {"ph":"C","name":"nothing","pid":1,"ts":2}])")
                                         .recording;
  EXPECT_EQ(recording.counters, (std::vector<trace::CounterTrack>{{"power", "W", {trace::DeviceType::kCuda, 1}, {2000, 4000}, {290, 300.5}},
                                                                  {"load", "", {}, {1000}, {1}}}));
  EXPECT_EQ(trace::check_invariants(recording), "");
}

TEST(ChromeReader, ArgumentsNobodyKnowsBecomeAttributes) {
  const trace::Recording recording =
      read_text(
          R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7,"correlation":3,"grid":[1,3,1],"occupancy":0.5,"queued":0,"x\ny":"a\"b","on":true,"nothing":null}}])")
          .recording;
  std::vector<std::string> texts;
  for (const trace::Attribute& attribute : recording.attributes.find(0)) {
    const bool is_text = attribute.type == trace::Attribute::Type::kText || attribute.type == trace::Attribute::Type::kJson;
    texts.push_back(recording.names[attribute.key] + (is_text ? "=" + recording.names[static_cast<std::size_t>(attribute.bits)] : ""));
  }
  EXPECT_THAT(texts, testing::ElementsAre("grid=[1,3,1]", "occupancy", "queued", "x\ny=a\"b", "on"));
  EXPECT_EQ(recording.events.link[0], 3U);
  EXPECT_EQ(recording.tracks[0].kind, trace::Track::Kind::kStream);
  EXPECT_EQ(recording.tracks[0].id, 7);
}

TEST(ChromeReader, AFileThatEndsEarlyGivesWhatCameBeforeAndSaysSo) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::full_recording(), folder / "t.json");
  const std::string text = read_file(folder / "t.json");
  std::size_t last = 0;
  for (std::size_t size = 1; size < text.size() - 2; size += 97) {
    const ChromeReadResult result = read_text(std::string_view(text).substr(0, size));
    EXPECT_TRUE(result.damage) << size;
    EXPECT_EQ(check_invariants(result.recording), "");
    EXPECT_GE(result.elements, last);
    EXPECT_EQ(result.recording.losses.back().reason, trace::LossReason::kDamagedFile);
    last = result.elements;
  }
  EXPECT_GT(last, 30U);
}

TEST(ChromeReader, EventsThatAreNotJsonAreLeftOutAndCounted) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::large_recording(30000), folder / "t.json");
  std::string text = read_file(folder / "t.json");
  const std::size_t middle = text.find("aten::", text.size() / 2), last = text.find("aten::", text.size() * 9 / 10);
  text.replace(middle, 4, "a\"\"b");  // what torch made of a name with quotes
  text.replace(last, 4, "a\"\"b");
  const ChromeReadResult result = read_text(text);
  ASSERT_TRUE(result.damage);
  EXPECT_THAT(*result.damage, HasSubstr("2 of "));
  EXPECT_EQ(result.recording.events.size(), 29998U);
  EXPECT_EQ(result.recording.losses.back().count, 2U);
}

TEST(ChromeReader, RandomDamageNeverBreaksMoreThanTheRecording) {
  const TemporaryFolder folder;
  exporter::write_chrome_trace(tests::full_recording(), folder / "t.json");
  const std::string text = read_file(folder / "t.json");
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = "{}[]\",:0-e.\\\0\xFFx"[random() % 16];
    try {
      EXPECT_EQ(check_invariants(read_text(damaged).recording), "");
    } catch (const InvalidArgument&) {
    }
  }
}

TEST(ChromeReader, BytesThatAreNoUtf8AndRawControlCharactersAreRepaired) {
  const ChromeReadResult result = read_text("[{\"ph\":\"X\",\"name\":\"a\xFF\x01 b\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]");
  EXPECT_FALSE(result.damage);
  ASSERT_EQ(result.recording.events.size(), 1U);
  EXPECT_EQ(result.recording.name(0), "a\xEF\xBF\xBD  b");
}

TEST(ChromeReader, WhatIsNoTraceIsRefusedWithAReason) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      read_chrome_trace(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const TemporaryFolder folder;
  exporter::write_output(folder / "text", "hello");
  EXPECT_THAT(message(folder / "text"), HasSubstr("not a Chrome trace"));
  exporter::write_output(folder / "empty", "");
  EXPECT_THAT(message(folder / "empty"), HasSubstr("not a Chrome trace"));
  exporter::write_output(folder / "bad.gz", std::string(3000, 'x'));
  std::string gz = read_file(folder / "bad.gz");
  gz.resize(gz.size() - 9);
  exporter::write_output(folder / "bad", gz);
  EXPECT_THAT(message(folder / "bad"), HasSubstr("not a Chrome trace"));
  EXPECT_THAT(message(folder / "missing"), HasSubstr(folder / "missing"));
  EXPECT_THAT(message(folder.path()), HasSubstr("directory"));
}

}  // namespace
}  // namespace mindtorch::ingest
