// The doubles of libmspti have the vendor's traps, so that tests of the source can fall into them.
#include "tests/doubles/mspti/mspti_double.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/sources/mspti/mspti_abi.h"

namespace mspti_double {
namespace {

namespace abi = mindtorch::sources::mspti;

class MsptiDoubleTest : public testing::Test {
 protected:
  MsptiDoubleTest() { ::unsetenv("LD_PRELOAD"); }

  template <class Function>
  static Function* find(const char* name, int version = 262) {
    const std::string path = std::string(MSPTI_DOUBLES) + "/mspti_" + std::to_string(version) + "/libmspti.so";
    return reinterpret_cast<Function*>(::dlsym(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), name));
  }
};

TEST_F(MsptiDoubleTest, TheIteratorGoesOnInTheNextBufferIfTheLastWasNotReadToItsEnd) {
  const auto next = find<abi::Result(std::uint8_t*, std::size_t, abi::Activity**)>("msptiActivityGetNextRecord");
  alignas(8) std::array<abi::KernelRecord, 2> first{}, second{};
  for (abi::KernelRecord& record : first) record.kind = abi::kKernel;
  for (abi::KernelRecord& record : second) record.kind = abi::kKernel;
  abi::Activity* record = nullptr;
  EXPECT_EQ(next(reinterpret_cast<std::uint8_t*>(first.data()), sizeof first, &record), abi::kSuccess);
  EXPECT_EQ(static_cast<void*>(record), &first[0]);
  EXPECT_EQ(next(reinterpret_cast<std::uint8_t*>(second.data()), sizeof second, &record), abi::kSuccess);
  EXPECT_EQ(static_cast<void*>(record), &second[1]) << "not the first record";
  EXPECT_EQ(next(reinterpret_cast<std::uint8_t*>(second.data()), sizeof second, &record), abi::kMaxLimitReached);
}

TEST_F(MsptiDoubleTest, ExternalIdsAreThoseOfTheWholeProcessAndPoppingNeedsAnAddress) {
  const auto push = find<abi::Result(std::uint32_t, std::uint64_t)>("msptiActivityPushExternalCorrelationId");
  const auto pop = find<abi::Result(std::uint32_t, std::uint64_t*)>("msptiActivityPopExternalCorrelationId");
  EXPECT_EQ(push(2, 11), abi::kSuccess);
  std::thread([&] { EXPECT_EQ(push(2, 22), abi::kSuccess); }).join();
  EXPECT_EQ(pop(2, nullptr), abi::kInvalidParameter);
  std::uint64_t last = 0;
  EXPECT_EQ(pop(2, &last), abi::kSuccess);
  EXPECT_EQ(last, 22u) << "of the other thread";
  EXPECT_EQ(pop(2, &last), abi::kSuccess);
  EXPECT_EQ(pop(2, &last), abi::kQueueEmpty);
}

TEST_F(MsptiDoubleTest, KindsOfMemoryNeedThePreloadAndOlderVersionsDoNotKnowTheKindsOfCalls) {
  for (const int version : {85, 260}) {
    const auto controls = find<const MsptiDoubleControls*()>("mspti_double_controls", version)();
    const auto enable = find<abi::Result(std::uint32_t)>("msptiActivityEnable", version);
    const bool is_old = version == 85;
    EXPECT_EQ(enable(abi::kRuntimeApi), is_old ? abi::kInvalidParameter : abi::kSuccess);
    EXPECT_EQ(enable(abi::kMemcpy), is_old ? abi::kSuccess : abi::kWithoutPreload);
    EXPECT_NE(std::string(controls->violations()), "") << "kinds were enabled without a subscription";
    controls->reset();
  }
}

TEST_F(MsptiDoubleTest, VersionsDifferInWhatTheyExport) {
  std::map<int, std::vector<std::string>> exports;
  for (const int version : {85, 260, 261, 262}) {
    for (const char* name : {"msptiSubscribe", "msptiActivityIsEnabled", "msptiGetVersion", "msptiGetTimestamp"}) {
      if (find<void()>(name, version) != nullptr) exports[version].emplace_back(name);
    }
  }
  EXPECT_EQ(exports[85], std::vector<std::string>{"msptiSubscribe"});
  EXPECT_EQ(exports[260], exports[85]);
  EXPECT_EQ(exports[261], (std::vector<std::string>{"msptiSubscribe", "msptiActivityIsEnabled"}));
  EXPECT_EQ(exports[262], (std::vector<std::string>{"msptiSubscribe", "msptiActivityIsEnabled", "msptiGetVersion", "msptiGetTimestamp"}));
}

TEST_F(MsptiDoubleTest, ABufferRetiresWhenItIsFourFifthsFull) {
  static std::vector<std::size_t> retired;
  retired.clear();
  const auto controls = find<const MsptiDoubleControls*()>("mspti_double_controls")();
  const auto subscribe = find<abi::Result(abi::Subscriber*, abi::CallbackFunction, void*)>("msptiSubscribe");
  const auto unsubscribe = find<abi::Result(abi::Subscriber)>("msptiUnsubscribe");
  controls->reset();
  abi::Subscriber subscriber = nullptr;
  EXPECT_EQ(subscribe(&subscriber, nullptr, nullptr), abi::kSuccess);
  find<abi::Result(abi::BufferRequested, abi::BufferCompleted)>("msptiActivityRegisterCallbacks")(
      [](std::uint8_t** buffer, std::size_t* size, std::size_t*) {
        *size = 560;
        *buffer = new std::uint8_t[*size];
      },
      [](std::uint8_t* buffer, std::size_t, std::size_t valid) {
        retired.push_back(valid);
        delete[] buffer;
      });
  EXPECT_EQ(find<abi::Result(std::uint32_t)>("msptiActivityEnable")(abi::kMarker), abi::kSuccess);
  const auto mark = find<void(const char*, void*)>("mstxMarkA");
  for (int i = 0; i < 8; ++i) mark("moment", nullptr);  // 56 bytes each
  EXPECT_EQ(unsubscribe(subscriber), abi::kSuccess);
  controls->reset();  // waits for the threads that hand buffers over
  EXPECT_EQ(retired, std::vector<std::size_t>{448});
}

}  // namespace
}  // namespace mspti_double
