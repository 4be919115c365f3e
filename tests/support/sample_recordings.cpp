// Builds the sample recordings.
#include "tests/support/sample_recordings.h"

#include <fmt/format.h>

#include <array>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::tests {
namespace {

using trace::Device;
using trace::DeviceType;
using trace::EventDraft;
using trace::EventKind;
using trace::Input;
using trace::RecordingBuilder;
using trace::TrackId;

constexpr std::int64_t kUnixNs = 1794710745000000123;
constexpr std::int64_t kPid = 437;

Input tensor(std::vector<std::int64_t> sizes, trace::ScalarType dtype = trace::ScalarType::kFloat) {
  Input input;
  input.kind = Input::Kind::kTensor;
  input.dtype = dtype;
  input.sizes = std::move(sizes);
  input.strides.resize(input.sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = input.sizes.size(); i-- > 0; stride *= input.sizes[i]) input.strides[i] = stride;
  return input;
}

Input scalar(std::int64_t value) {
  Input input;
  input.kind = Input::Kind::kInt;
  input.integer = value;
  return input;
}

void set_window(RecordingBuilder& builder, std::int64_t end_ns) {
  trace::Recording& recording = builder.recording();
  recording.clock.base_unix_ns = kUnixNs;
  recording.clock.start_ns = 0;
  recording.clock.end_ns = end_ns;
  recording.clock.domains.push_back({"tsc", 2300002000.0, 12, 40});
  recording.options.activities = {DeviceType::kCpu};
  recording.trace_id = "AF645F25E031463EBE960B6D4C5422B0";
}

// Forward on one thread, backward on another, for each step.
struct TrainingLoop {
  explicit TrainingLoop(RecordingBuilder& b) : builder(b) {
    main = builder.add_thread(kPid, "python3", kPid);
    autograd = builder.add_thread(476, "pt_autograd_0", kPid);
  }

  RecordingBuilder::DraftId add(std::string_view name, EventKind kind, TrackId track, std::int64_t start, std::int64_t duration,
                                std::uint64_t link = 0) {
    return builder.add_event({.name = name, .kind = kind, .track = track, .start_ns = start, .duration_ns = duration, .link = link});
  }

  void step(std::int64_t number, std::int64_t at) {
    builder.add_step(at, number);
    add(trace::step_name(number), EventKind::kStep, main, at, 90000, trace::make_step_link(number));
    add("forward", EventKind::kScope, main, at + 1000, 30000);
    linear = add("aten::linear", EventKind::kOp, main, at + 2000, 20000, trace::make_sequence_link(10 * number));
    add("aten::addmm", EventKind::kOp, main, at + 4000, 15000, trace::make_sequence_link(10 * number));
    add("aten::relu", EventKind::kOp, main, at + 24000, 5001, trace::make_sequence_link(10 * number + 1));
    const std::uint64_t relu = trace::make_sequence_link(10 * number + 1, 1);
    const std::uint64_t addmm = trace::make_sequence_link(10 * number, 1);
    add("autograd::engine::evaluate_function: ReluBackward0", EventKind::kBackward, autograd, at + 40000, 9000, relu);
    add("ReluBackward0", EventKind::kBackward, autograd, at + 41000, 7000, relu);
    add("aten::threshold_backward", EventKind::kOp, autograd, at + 42000, 5000);
    add("autograd::engine::evaluate_function: AddmmBackward0", EventKind::kBackward, autograd, at + 50000, 14000, addmm);
    add("AddmmBackward0", EventKind::kBackward, autograd, at + 51000, 12000, addmm);
    add("aten::mm", EventKind::kOp, autograd, at + 52000, 4999);
    add("Optimizer.step#SGD.step", EventKind::kScope, main, at + 70000, 10000);
    add("aten::add_", EventKind::kOp, main, at + 72000, 3000);
  }

  RecordingBuilder& builder;
  TrackId main = 0;
  TrackId autograd = 0;
  RecordingBuilder::DraftId linear = 0;
};

trace::Frame frame(RecordingBuilder& builder, std::string_view file, std::int32_t line, std::string_view function) {
  return {builder.intern(file), builder.intern(function), line};
}

void add_shapes(RecordingBuilder& builder, RecordingBuilder::DraftId op) {
  Input list;
  list.kind = Input::Kind::kTensorList;
  list.list = {tensor({2, 3}, trace::ScalarType::kOther), tensor({4}, trace::ScalarType::kOther)};
  Input flag = scalar(1);
  flag.kind = Input::Kind::kBool;
  Input real;
  real.kind = Input::Kind::kDouble;
  real.real = 0.1;
  Input ints;
  ints.kind = Input::Kind::kIntList;
  ints.sizes = {1, -1};
  Input flags;
  flags.kind = Input::Kind::kBoolList;
  flags.sizes = {1, 0};
  Input text;
  text.kind = Input::Kind::kText;
  text.text = builder.intern("mean");
  Input transposed = tensor({8, 4}, trace::ScalarType::kInt64);
  transposed.strides = {1, 8};
  const std::vector<Input> inputs = {tensor({2, 3, 8, 8}), transposed, tensor({}), Input{}, scalar(6), flag, real, ints, flags, text, list};
  builder.set_inputs(op, inputs);
}

}  // namespace

trace::Recording cpu_recording() {
  RecordingBuilder builder;
  set_window(builder, 250000);
  TrainingLoop loop(builder);
  loop.step(2, 10000);
  loop.step(3, 110000);
  return builder.finish();
}

trace::Recording full_recording() {
  RecordingBuilder builder;
  set_window(builder, 250000);
  TrainingLoop loop(builder);
  loop.add("train.py(7): <module>", EventKind::kPythonFunction, loop.main, 500, 220000);
  loop.add("train.py(12): step", EventKind::kPythonFunction, loop.main, 10500, 80000);
  loop.add("nn.Module: Linear_0", EventKind::kModule, loop.main, 11500, 21000);
  loop.step(2, 10000);
  add_shapes(builder, loop.linear);
  const std::array stack = {frame(builder, "train.py", 14, "forward"), frame(builder, "train.py", 7, "<module>")};
  builder.set_stack(loop.linear, stack);
  loop.step(3, 110000);
  builder.set_inputs(loop.linear, std::array{tensor({2, 5}), scalar(-100)});
  builder.set_stack(loop.linear, std::array{frame(builder, "train.py", 7, "<module>")});
  builder.add_attribute(loop.linear, "overload", "default");
  builder.add_attribute(loop.linear, "flops", std::int64_t{4096});
  builder.add_attribute(loop.linear, "ratio", 0.5);
  builder.add_event({.name = "checkpoint saved", .kind = EventKind::kInstant, .track = loop.main, .start_ns = 95000});
  builder.add_event({.name = "left open",
                     .kind = EventKind::kScope,
                     .track = loop.main,
                     .start_ns = 230000,
                     .duration_ns = 20000,
                     .flags = trace::kUnfinished});
  builder.add_memory(12500, loop.main, {}, 0x1000, 4096, 5096, 8192);
  builder.add_memory(15500, loop.main, {}, 0x2000, 1024, 6120, 8192);
  builder.add_memory(33000, loop.main, {}, 0x2000, -1024, 5096, 8192);
  builder.add_memory(120000, loop.autograd, {}, 0x1000, -4096, 1000, 8192);
  trace::Recording& recording = builder.recording();
  recording.memory_baselines.push_back({{}, 1000, 8192});
  recording.memory_tags = {{12600, 0x1000, trace::MemoryCategory::kParameter}, {15600, 0x2000, trace::MemoryCategory::kActivation}};
  recording.options = {.shapes = true, .stacks = true, .memory = true, .flops = true, .modules = true, .activities = {DeviceType::kCpu}};
  recording.metadata = {
      {"framework", "\"mindtorch\""}, {"lr", "0.01"}, {"distributedInfo", R"({"backend": "hccl", "rank": 3, "world_size": 8})"}};
  recording.losses.push_back({trace::LossReason::kBudget, 17, "thread 476", "The byte budget of the session was used up."});
  recording.losses.push_back({trace::LossReason::kUnfinished, 1, "thread 437", ""});
  return builder.finish();
}

trace::Recording device_recording(DeviceType type) {
  RecordingBuilder builder;
  set_window(builder, 400000);
  const Device device{type, 0};
  const bool npu = type == DeviceType::kNpu;
  const TrackId host = builder.add_thread(kPid, "python3", kPid);
  const TrackId compute = builder.add_stream(device, 7, "", kPid);
  const TrackId comm = builder.add_stream(device, 20, "hccl", kPid);
  const std::string launch = npu ? "aclrtLaunchKernel" : "cudaLaunchKernel";
  if (!npu)
    builder.recording().counters = {{"power", "W", device, {12000, 62000, 112000}, {300.5, 412.25, 350}},
                                    {"sm__cycles_active", "", device, {10000, 20000}, {0, 97.5}}};
  std::uint64_t correlation = 100;
  const auto launched = [&](std::string_view name, EventKind kind, TrackId stream, std::int64_t at, std::int64_t delay,
                            std::int64_t duration) {
    ++correlation;
    builder.add_event({.name = launch,
                       .kind = EventKind::kRuntime,
                       .track = host,
                       .start_ns = at,
                       .duration_ns = 2000,
                       .link = correlation,
                       .device = device});
    const auto id = builder.add_event({.name = name,
                                       .kind = kind,
                                       .track = stream,
                                       .start_ns = at + delay,
                                       .duration_ns = duration,
                                       .link = correlation,
                                       .device = device});
    builder.add_attribute(id, "context", std::int64_t{1});
    if (kind == EventKind::kMemcpy) builder.add_attribute(id, "bytes", std::int64_t{1536});
    if (kind == EventKind::kCollective) builder.add_attribute(id, "Collective name", "allreduce");
  };
  for (std::int64_t step = 2; step < 5; ++step) {
    const std::int64_t at = 10000 + (step - 2) * 100000;
    builder.add_step(at, step);
    builder.add_event({.name = trace::step_name(step),
                       .kind = EventKind::kStep,
                       .track = host,
                       .start_ns = at,
                       .duration_ns = 95000,
                       .link = trace::make_step_link(step)});
    const auto op = [&](std::string_view name, std::int64_t start, std::int64_t duration) {
      builder.add_event({.name = name,
                         .kind = EventKind::kOp,
                         .track = host,
                         .start_ns = at + start,
                         .duration_ns = duration,
                         .link = trace::make_sequence_link(step * 10),
                         .device = device,
                         .flags = trace::kKnownDevice});
    };
    op("aten::copy_", 1000, 8000);
    launched("Memcpy HtoD (Pageable -> Device)", EventKind::kMemcpy, compute, at + 3000, 5000, 900);
    op("aten::mm", 10000, 9000);
    launched("gemm_kernel", EventKind::kKernel, compute, at + 12000, 6000, 20000);
    op("aten::relu", 20000, 5000);
    launched("relu_kernel", EventKind::kKernel, compute, at + 22000, 15000, 8000);  // starts before the gemm ends and outlives it
    op("c10d::allreduce_", 30000, 9000);
    launched(npu ? "hcclAllReduce" : "ncclDevKernel_AllReduce_Sum_f32", EventKind::kCollective, comm, at + 32000, 20000, 25000);
    op("aten::zero_", 60000, 5000);
    launched("Memset (Device)", EventKind::kMemset, compute, at + 61000, 10000, 700);
  }
  builder.recording().options.activities = {DeviceType::kCpu, type};
  builder.recording().devices = {{{trace::DeviceType::kNpu, 0}, "NPU \"A\"", {{"totalGlobalMem", 1 << 20}, {"computeMajor", 9}}},
                                 {{trace::DeviceType::kNpu, 1}, "NPU B", {}}};
  builder.recording().metadata["distributedInfo"] = R"({"backend": "hccl", "rank": 0, "world_size": 1})";
  builder.recording().clock.domains.push_back({"device:0", 1e9, 350, 12});
  return builder.finish();
}

std::vector<std::string> hostile_names() {
  return {"quote\"inside",
          "back\\slash\\",
          std::string("control \x01\x02\x1f\n\t\r\b\f and NUL \0 end", 30),
          "bad utf-8 \xff\xfe\xc3\x28 \xed\xa0\x80 end",
          "</script><script>alert(1)</script><!--",
          "émoji \xF0\x9F\x94\xA5 漢字 \xE2\x80\xA8",
          "]}],\"traceEvents\":[",
          "a;b c;d\ne",
          "{}%s%n{0}",
          "",
          " ",
          std::string(1 << 20, 'x'),
          "\x1b]0;title\x07 \x7f \xC2\x9B"
          "31m",
          "not in XML \xEF\xBF\xBE\xEF\xBF\xBF",
          "=HYPERLINK(\"http://example.invalid\")",
          "@SUM(1)"};
}

trace::Recording hostile_recording() {
  RecordingBuilder builder;
  set_window(builder, 1000000);
  const std::vector<std::string> names = hostile_names();
  const TrackId track = builder.add_thread(437, names[0] + names[3], kPid);
  std::int64_t at = 1000;
  for (const std::string& name : names) {
    const auto op = builder.add_event({.name = name, .kind = EventKind::kScope, .track = track, .start_ns = at, .duration_ns = 1500});
    builder.add_attribute(op, "text " + name.substr(0, 64), name);
    builder.add_attribute(op, "External id", std::int64_t{7});
    trace::Attribute json;
    json.key = builder.intern("json");
    json.type = trace::Attribute::Type::kJson;
    json.bits = builder.intern(name);
    builder.add_attribute(op, json);
    builder.set_stack(op, std::array{frame(builder, name, 3, name)});
    Input text;
    text.kind = Input::Kind::kText;
    text.text = builder.intern(name);
    builder.set_inputs(op, std::array{text});
    at += 2000;
  }
  trace::Recording& recording = builder.recording();
  recording.options.stacks = recording.options.shapes = true;
  recording.trace_id = names[0];
  recording.metadata = {{names[0], "\"x\""}, {"traceEvents", "[]"}, {"bad utf \xff key", "[1,{\"a\":null}]"}};
  recording.losses.push_back({trace::LossReason::kDeviceDropped, 3, names[2], names[4]});
  return builder.finish();
}

trace::Recording empty_recording() {
  RecordingBuilder builder;
  set_window(builder, 1000);
  return builder.finish();
}

trace::Recording large_recording(std::size_t events) {
  constexpr std::array<std::string_view, 12> kNames = {
      "aten::linear", "aten::addmm",  "aten::copy_",     "aten::empty", "aten::native_layer_norm",
      "aten::gelu",   "aten::matmul", "aten::transpose", "aten::mm",    "aten::as_strided",
      "aten::add_",   "aten::mul"};
  RecordingBuilder builder;
  builder.reserve(events);
  std::array<TrackId, 4> tracks;
  for (std::size_t t = 0; t < tracks.size(); ++t)
    tracks[t] = builder.add_thread(static_cast<std::int64_t>(437 + t), fmt::format("worker {}", t), kPid);
  std::array<std::int64_t, 4> clock{};
  for (std::size_t i = 0; i < events;) {
    const std::size_t t = (i / 64) % tracks.size();
    std::int64_t start = clock[t] + 731;
    std::int64_t duration = 21013 + static_cast<std::int64_t>(i % 977);
    clock[t] = start + duration;
    for (int depth = 0; depth < 4 && i < events; ++depth, ++i) {
      builder.add_event({.name = kNames[(i * 7 + i / 64) % kNames.size()],
                         .kind = EventKind::kOp,
                         .track = tracks[t],
                         .start_ns = start,
                         .duration_ns = duration});
      start += 1201 + depth;
      duration -= 3607;
    }
  }
  set_window(builder, *std::max_element(clock.begin(), clock.end()));
  return builder.finish();
}

trace::Recording sampled_recording() {
  RecordingBuilder builder;
  builder.recording().options.sampling_interval_ns = 1'000'000;
  const TrackId loop = builder.add_thread(437, "python3", kPid), saver = builder.add_thread(440, "saver", kPid);
  const TrackId worker = builder.add_thread(500, "DataLoader worker 0", kPid + 1);
  const auto sample = [&](TrackId track, std::int64_t start, std::int64_t duration, trace::ThreadState state, std::string_view function,
                          int line) {
    const std::vector<trace::Frame> frames = {{builder.intern("/home/me/train.py"), builder.intern(function), line},
                                              {builder.intern("/home/me/train.py"), builder.intern("main"), 40}};
    builder.add_sample(start, duration, track, frames, state);
  };
  for (int step = 0; step < 5; ++step) {
    const std::int64_t start = 10'000'000 * step;
    builder.add_event({.name = "aten::linear", .kind = EventKind::kOp, .track = loop, .start_ns = start, .duration_ns = 4'000'000});
    sample(loop, start + 1'000'000, 3'000'000, trace::ThreadState::kRunning, "forward", 7);
    sample(loop, start + 4'500'000, 4'000'000, trace::ThreadState::kRunning, "count", 12);
    sample(loop, start + 8'500'000, 1'500'000, trace::ThreadState::kWaitsForLock, "wait", 20);
    builder.add_event(
        {.name = "DataLoader.fetch", .kind = EventKind::kScope, .track = worker, .start_ns = start + 100, .duration_ns = 6'000'000});
  }
  sample(saver, 2'000'000, 30'000'000, trace::ThreadState::kSleeps, "save", 30);
  sample(saver, 32'000'000, 5'000'000, trace::ThreadState::kWaitsForGil, "save", 31);
  set_window(builder, 50'000'000);
  return builder.finish();
}

std::vector<std::pair<std::string, trace::Recording>> sample_recordings() {
  std::vector<std::pair<std::string, trace::Recording>> samples;
  samples.emplace_back("cpu", cpu_recording());
  samples.emplace_back("full", full_recording());
  samples.emplace_back("npu", device_recording(DeviceType::kNpu));
  samples.emplace_back("cuda", device_recording(DeviceType::kCuda));
  samples.emplace_back("hostile", hostile_recording());
  samples.emplace_back("empty", empty_recording());
  return samples;
}

}  // namespace mindtorch::tests
