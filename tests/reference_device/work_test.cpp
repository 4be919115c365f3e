// Launches, copies and memsets: work.cpp, and the calls of device.cpp about memory.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "mindtorch/base/error.h"
#include "tests/support/powered.h"

namespace mindtorch::reference_device {
namespace {

void* on_device(std::size_t bytes, int device = 0) {
  void* address = nullptr;
  EXPECT_EQ(allocate(device, bytes, &address), Result::kSuccess);
  return address;
}

std::vector<int> numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(Work, ComputesOnTheDeviceWhatTheHostSentAndFetches) {
  Powered on;
  const std::vector<int> input = numbers(1000);
  std::vector<int> output(input.size());
  const std::size_t bytes = input.size() * sizeof(int);
  int* address = static_cast<int*>(on_device(bytes));
  ASSERT_EQ(copy_async(address, input.data(), bytes, CopyKind::kHostToDevice, main_stream()), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "double",
                   [=](const DeviceView& view) {
                     for (int& value : std::span(view.at(address), 1000)) value *= 2;
                   }),
            Result::kSuccess);
  ASSERT_EQ(copy_async(output.data(), address, bytes, CopyKind::kDeviceToHost, main_stream()), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  for (std::size_t i = 0; i < input.size(); ++i) ASSERT_EQ(output[i], 2 * input[i]);
}

TEST(Work, CopiesBetweenDevices) {
  Powered on({.devices = 2, .memory_bytes = 1 << 20});
  const std::vector<int> input = numbers(10);
  std::vector<int> output(10);
  void* here = on_device(40, 0);
  void* there = on_device(40, 1);
  EXPECT_EQ(device_of(here), 0);
  EXPECT_EQ(device_of(there), 1);
  EXPECT_EQ(device_of(input.data()), -1);
  ASSERT_EQ(copy_async(here, input.data(), 40, CopyKind::kHostToDevice, main_stream(0)), Result::kSuccess);
  ASSERT_EQ(copy_async(there, here, 40, CopyKind::kDeviceToDevice, main_stream(0)), Result::kSuccess);
  ASSERT_EQ(copy_async(output.data(), there, 40, CopyKind::kDeviceToHost, main_stream(0)), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream(0)), Result::kSuccess);
  EXPECT_EQ(output, input);
}

TEST(Work, SetsMemory) {
  Powered on;
  void* address = on_device(64);
  std::vector<unsigned char> output(64);
  ASSERT_EQ(set_async(address, 0xAB, 64, main_stream()), Result::kSuccess);
  ASSERT_EQ(copy_async(output.data(), address, 64, CopyKind::kDeviceToHost, main_stream()), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  EXPECT_EQ(output, std::vector<unsigned char>(64, 0xAB));
}

TEST(Work, RefusesAddressesOfTheWrongSide) {
  Powered on;
  char on_host[64] = {};
  void* address = on_device(64);
  EXPECT_EQ(copy_async(on_host, on_host, 64, CopyKind::kHostToDevice, main_stream()), Result::kInvalidAddress);
  EXPECT_EQ(copy_async(address, address, 64, CopyKind::kHostToDevice, main_stream()), Result::kInvalidAddress);
  EXPECT_EQ(copy_async(address, address, 64, CopyKind::kDeviceToHost, main_stream()), Result::kInvalidAddress);
  EXPECT_EQ(copy_async(address, on_host, 65, CopyKind::kHostToDevice, main_stream()), Result::kInvalidAddress) << "beyond the allocation";
  EXPECT_EQ(set_async(on_host, 0, 64, main_stream()), Result::kInvalidAddress);
  EXPECT_EQ(release(on_host), Result::kInvalidAddress);
  EXPECT_EQ(copy_async(nullptr, nullptr, 0, CopyKind::kHostToDevice, main_stream()), Result::kSuccess) << "nothing to copy";
}

TEST(Work, FailsTheStreamOfAKernelThatUsesAHostAddress) {
  Powered on;
  int on_host = 0;
  ASSERT_EQ(launch(main_stream(), "stray", [&](const DeviceView& view) { *view.at(&on_host) = 1; }), Result::kSuccess);
  EXPECT_EQ(synchronize(main_stream()), Result::kKernelFailed);
  EXPECT_NE(error_text(main_stream()).find("is not an address of device 0"), std::string::npos);
}

TEST(Work, CallsTheHostInTheOrderOfTheStreamAndAlsoAfterAFailure) {
  Powered on;
  Gate gate;
  std::vector<int> order;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(call_host(main_stream(), [&] { order.push_back(1); }), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "throw", [](const DeviceView&) { throw 1; }), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "skipped", [&](const DeviceView&) { order.push_back(2); }), Result::kSuccess);
  ASSERT_EQ(call_host(main_stream(), [&] { order.push_back(3); }), Result::kSuccess);
  EXPECT_TRUE(order.empty());
  gate.open();
  EXPECT_EQ(synchronize(main_stream()), Result::kKernelFailed);
  EXPECT_EQ(order, (std::vector<int>{1, 3}));
}

TEST(Work, FreesMemoryOnlyAfterTheWorkThatUsesIt) {
  Powered on;
  int* address = static_cast<int*>(on_device(sizeof(int)));
  int seen = 0;
  ASSERT_EQ(launch(main_stream(), "write", [=](const DeviceView& view) { *view.at(address) = 5; }), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "read", [&seen, address](const DeviceView& view) { seen = *view.at(address); }), Result::kSuccess);
  ASSERT_EQ(release(address), Result::kSuccess);
  EXPECT_EQ(seen, 5);
}

TEST(Work, TellsHowMuchMemoryIsLeft) {
  Powered on({.memory_bytes = 1 << 20});
  std::size_t free_bytes = 0, total = 0;
  void* address = on_device(1000);
  ASSERT_EQ(memory_info(0, &free_bytes, &total), Result::kSuccess);
  EXPECT_EQ(total, 1u << 20);
  EXPECT_EQ(free_bytes, (1u << 20) - 1024);
  void* more = nullptr;
  EXPECT_EQ(allocate(0, 1 << 20, &more), Result::kOutOfMemory);
  EXPECT_EQ(release(address), Result::kSuccess);
  EXPECT_EQ(allocate(0, 1 << 20, &more), Result::kSuccess);
  EXPECT_EQ(memory_info(1, &free_bytes, &total), Result::kInvalidArgument);
}

TEST(Work, NumbersEachLaunchDifferently) {
  Powered on;
  std::uint64_t first = 0, second = 0;
  ASSERT_EQ(launch(main_stream(), "a", nothing(), &first), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "b", nothing(), &second), Result::kSuccess);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
}

TEST(Work, KeepsTheTruthAboutWhatRan) {
  Powered on({.memory_bytes = 1 << 20, .keep_truth = true});
  void* address = on_device(8);
  std::uint64_t correlation = 0;
  ASSERT_EQ(launch(main_stream(), "square", nothing(), &correlation), Result::kSuccess);
  ASSERT_EQ(set_async(address, 0, 8, main_stream()), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  const std::vector<Truth> truth = take_truth();
  ASSERT_EQ(truth.size(), 2u);
  EXPECT_EQ(truth[0].name, "square");
  EXPECT_EQ(truth[0].correlation, correlation);
  EXPECT_EQ(truth[0].kind, kKernelActivity);
  EXPECT_EQ(truth[1].kind, kMemsetActivity);
  EXPECT_LE(truth[0].start_ns, truth[0].end_ns);
  EXPECT_LE(truth[0].end_ns, truth[1].start_ns);
  EXPECT_TRUE(take_truth().empty());
}

}  // namespace
}  // namespace mindtorch::reference_device
