// Tests mindtorch/bridges/nvtx/injection: calls of NVTX for which there is no memory. The program goes on, and later ranges are recorded.
#include <gtest/gtest.h>

#include "mindtorch/record/session.h"
#include "tests/bridges/nvtx/client.h"
#include "tests/support/refused_memory.h"

namespace mindtorch::nvtx {
namespace {

constexpr const char* kLong = "a text that is longer than a short string can be without memory of its own";
constexpr const wchar_t* kWide = L"a wide text that is longer than a short string can be without memory of its own";

void call_everything(Client& client) {
  EventAttributes wide{.version = 3, .size = sizeof(EventAttributes), .category = 7, .payload_type = kUint64Payload, .payload = 1};
  wide.message_type = kUnicodeMessage;
  wide.message = kWide;
  const EventAttributes* const attributes = &wide;
  client.call<void>(kMarkEx, attributes);
  client.call<void>(kMarkW, kWide);
  client.call<void>(kNameCategoryA, std::uint32_t{7}, kLong);
  client.call<void>(kNameCategoryW, std::uint32_t{8}, kWide);
  for (const bool is_wide : {false, true}) {
    const auto id = is_wide ? client.call<RangeId>(kRangeStartW, kWide) : client.call<RangeId>(kRangeStartA, kLong);
    client.call<void>(kRangeEnd, id);
    if (is_wide)
      client.call<int>(kRangePushW, kWide);
    else
      client.push(kLong);
    client.pop();
  }
  client.call<int>(kRangePushEx, attributes);
  client.pop();
  const auto domain = client.call<Handle>(kDomainCreateA, kLong);
  EXPECT_EQ(client.call<Handle>(kDomainCreateW, kWide), nullptr);
  EXPECT_EQ(domain, nullptr) << "which stands for the default domain";
  client.call<Handle>(kDomainRegisterStringA, domain, kLong);
  client.call<Handle>(kDomainRegisterStringW, domain, kWide);
  client.call<void>(kDomainNameCategoryA, domain, std::uint32_t{7}, kLong);
  client.call<void>(kDomainNameCategoryW, domain, std::uint32_t{8}, kWide);
  client.call<void>(kDomainMarkEx, domain, attributes);
  client.call<int>(kDomainRangePushEx, domain, attributes);
  client.call<int>(kDomainRangePop, domain);
}

TEST(NvtxWithoutMemory, NoCallThrowsAndLaterRangesAreRecorded) {
  Client client;
  connecting = &client;
  ASSERT_EQ(InitializeInjectionNvtx2(&get_export_table), 1);
  auto session = record::Session::prepare({.ranges = true});
  session->start();
  {
    const tests::RefusedMemory refused;
    call_everything(client);
  }
  client.push("later");
  client.pop();
  const trace::Recording recording = session->stop();
  bool is_there = false;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) is_there = is_there || recording.name(i) == "later";
  EXPECT_TRUE(is_there);
}

}  // namespace
}  // namespace mindtorch::nvtx
