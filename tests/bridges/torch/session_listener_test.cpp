// The listener hears of sessions as long as it listens.
#include "mindtorch/bridges/torch/session_listener.h"

#include <gmock/gmock.h>

#include <vector>

namespace mindtorch::torch_bridge {
namespace {

std::vector<std::uint32_t> heard;

TEST(SessionListener, HearsWhatIsWantedUntilItIsRemoved) {
  tell_listener(1);
  set_session_listener([](std::uint32_t wants) { heard.push_back(wants); });
  tell_listener(5);
  tell_listener(0);
  set_session_listener(nullptr);
  tell_listener(7);
  EXPECT_THAT(heard, testing::ElementsAre(5, 0));
}

}  // namespace
}  // namespace mindtorch::torch_bridge
