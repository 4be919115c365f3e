// Devices in the header of a Chrome trace: typed where that loses nothing.
#include "mindtorch/ingest/chrome/device_list.h"

#include <gtest/gtest.h>

namespace mindtorch::ingest::chrome {
namespace {

using Devices = std::vector<trace::DeviceProperties>;
using trace::DeviceType;

std::optional<Devices> read(std::string_view json) {
  trace::MemoryBudget budget;
  return read_device_list(json, DeviceType::kNpu, budget);
}

TEST(DeviceList, NumbersStayInTheOrderOfTheFile) {
  const Devices expected = {{{DeviceType::kNpu, 3}, "GPU \"A\"", {{"totalGlobalMem", 80 << 20}, {"computeMajor", 9}}},
                            {{DeviceType::kNpu, 0}, "", {}}};
  EXPECT_EQ(read(R"([{"id": 3, "name": "GPU \"A\"", "totalGlobalMem": 83886080, "computeMajor": 9}, {}])"), expected);
  EXPECT_EQ(read("[]"), Devices{});
}

TEST(DeviceList, WhatWouldLoseSomethingIsNotRead) {
  for (const char* json : {"", "{}", "[1]", R"([{"id":256}])", R"([{"id":-1}])", R"([{"id":"a"}])", R"([{"name":7.5}])",
                           R"([{"clock":1.5}])", R"([{"id":0,"links":[1]}])", R"([{"id":0},)"}) {
    EXPECT_EQ(read(json), std::nullopt) << json;
  }
}

TEST(DeviceList, TakesWhatItNeedsFromTheBudget) {
  trace::MemoryBudget budget(100);
  EXPECT_THROW(read_device_list(R"([{"id":0,"name":"GPU"}])", DeviceType::kCuda, budget), trace::BudgetExceeded);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
