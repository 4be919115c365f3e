// A seeded generator of rich recordings: every kind, all side data, hostile names.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mindtorch/trace/builder.h"

namespace mindtorch::trace {

class RandomRecording {
 public:
  explicit RandomRecording(std::uint64_t seed) : random_(seed) {}

  Recording make(std::size_t events) {
    add_tracks();
    add_names();
    for (std::size_t i = 0; i < events; ++i) add_event();
    for (std::size_t i = 0; i < events / 2; ++i) {
      builder_.add_memory(below(1'000'000), track(), device(), word(), static_cast<std::int64_t>(word()), static_cast<std::int64_t>(word()),
                          below(1 << 30));
    }
    for (std::size_t i = 0; i < events / 3; ++i) {
      builder_.add_sample(below(1'000'000) - 1000, chance(20) ? 0 : below(10'000), track(), frames(),
                          static_cast<ThreadState>(below(kThreadStates)));
    }
    for (std::int64_t i = 0; i < below(6); ++i) builder_.add_step(below(1'000'000), i);
    add_summary();
    return builder_.finish();
  }

 private:
  std::uint64_t word() { return random_() >> (random_() % 64); }
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  TrackId track() { return static_cast<TrackId>(below(tracks_)); }
  Device device() { return {chance(50) ? DeviceType::kNpu : DeviceType::kCuda, static_cast<std::uint8_t>(below(256))}; }
  NameId name() { return static_cast<NameId>(below(static_cast<std::int64_t>(builder_.recording().names.size()))); }

  std::string text() {
    switch (below(5)) {
      case 0: return "aten::op_" + std::to_string(below(50));
      case 1: return std::string("zero\0inside", 11) + std::to_string(below(9));
      case 2: return "\xff\xfe\xc0 not UTF-8 \"\\\n" + std::to_string(below(9));
      case 3: return std::string(static_cast<std::size_t>(below(300)), static_cast<char>('a' + below(26)));
      default: return "λ→名前 " + std::to_string(below(20));
    }
  }

  void add_tracks() {
    tracks_ = 1 + below(6);
    for (std::int64_t t = 0; t < tracks_; ++t) {
      chance(60) ? builder_.add_thread(below(1 << 20), text(), below(1 << 16))
                 : builder_.add_stream(device(), -below(9), text(), below(1 << 16));
    }
  }

  void add_names() {
    for (int i = 0; i < 20; ++i) builder_.intern(text());
  }

  void add_event() {
    const std::string name = text();
    const auto event = builder_.add_event({.name = name,
                                           .kind = static_cast<EventKind>(below(kEventKinds)),
                                           .track = track(),
                                           .start_ns = below(1'000'000) - 1000,
                                           .duration_ns = chance(20) ? 0 : below(10'000),
                                           .link = chance(50) ? 0 : word(),
                                           .device = chance(50) ? Device{} : device(),
                                           .flags = static_cast<std::uint8_t>(below(8))});
    if (chance(40)) builder_.set_inputs(event, inputs());
    while (chance(30)) {
      const auto type = static_cast<Attribute::Type>(below(5));
      const bool is_text = type == Attribute::Type::kText || type == Attribute::Type::kJson;
      builder_.add_attribute(event, Attribute{this->name(), type, is_text ? this->name() : static_cast<std::int64_t>(word())});
    }
    if (chance(40)) builder_.set_stack(event, frames());
  }

  std::vector<Frame> frames() {
    std::vector<Frame> frames(static_cast<std::size_t>(below(4)));
    for (Frame& frame : frames)
      frame = {static_cast<NameId>(below(5)), static_cast<NameId>(below(5)), static_cast<std::int32_t>(below(7) - 1)};
    return frames;
  }

  std::vector<std::int64_t> numbers(std::size_t n) {
    std::vector<std::int64_t> values(n);
    for (std::int64_t& value : values) value = below(5) - 1;
    return values;
  }

  Input tensor() {
    const auto dimensions = static_cast<std::size_t>(below(4));
    return {.kind = Input::Kind::kTensor, .dtype = ScalarType::kHalf, .sizes = numbers(dimensions), .strides = numbers(dimensions)};
  }

  std::vector<Input> inputs() {
    std::vector<Input> inputs(static_cast<std::size_t>(below(4)));
    for (Input& input : inputs) {
      input.kind = static_cast<Input::Kind>(below(11));
      switch (input.kind) {
        case Input::Kind::kTensor: input = tensor(); break;
        case Input::Kind::kTensorList: input.list = {tensor(), tensor()}; break;
        case Input::Kind::kInt: input.integer = static_cast<std::int64_t>(word()); break;
        case Input::Kind::kDouble: input.real = static_cast<double>(word()) / 7; break;
        case Input::Kind::kBool: input.integer = below(2); break;
        case Input::Kind::kText: input.text = name(); break;
        case Input::Kind::kIntList: input.sizes = numbers(3); break;
        case Input::Kind::kBoolList: input.sizes = {below(2), below(2)}; break;
        case Input::Kind::kDoubleList: input.reals = {0.1, -3e300}; break;
        case Input::Kind::kNone:
        case Input::Kind::kOther: break;
      }
    }
    return inputs;
  }

  void add_summary() {
    Recording& r = builder_.recording();
    for (int i = 0; i < below(5); ++i) {
      r.memory_tags.push_back({below(1000), word(), static_cast<MemoryCategory>(below(kMemoryCategories))});
      r.memory_baselines.push_back({device(), below(1 << 30), -below(1 << 30)});
      r.losses.push_back({static_cast<LossReason>(below(kLossReasons)), word(), text(), text()});
      r.devices.push_back({device(), text(), {{text(), below(1000)}}});
      r.metadata[text()] = "{\"n\": [" + std::to_string(below(100)) + "]}";
      r.clock.domains.push_back({text(), 1e9 / 3, below(1000), word()});
    }
    for (int i = 0; i < below(4); ++i) {
      CounterTrack& counter = find_or_add_counter(r.counters, text(), text(), device());
      for (int sample = 0; sample < below(20); ++sample) {
        counter.times_ns.push_back(below(1000));
        counter.values.push_back(static_cast<double>(word()) / 7);
      }
    }
    r.clock.base_unix_ns = static_cast<std::int64_t>(word());
    r.clock.start_ns = -below(1000);
    r.clock.end_ns = below(1 << 30);
    r.options = {chance(50), chance(50), chance(50), chance(50), chance(50), below(3) * 1'000'000, {DeviceType::kCpu, DeviceType::kNpu}};
    r.trace_id = text();
    r.first_id = static_cast<std::uint64_t>(1 + below(1000));
  }

  std::mt19937_64 random_;
  RecordingBuilder builder_;
  std::int64_t tracks_ = 1;
};

inline Recording random_recording(std::uint64_t seed, std::size_t events) { return RandomRecording(seed).make(events); }

}  // namespace mindtorch::trace
