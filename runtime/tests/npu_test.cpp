// NPUs of the runtime: copies, memory, streams, events, errors.
#include "mindtorch/runtime/kernels/npu/npu.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "mindtorch/runtime/functions.h"
#include "runtime/tests/npu_device.h"

namespace mindtorch::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorOptions kThere{.device = kNPU};

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Runs in a child process, where nobody has asked for an NPU.
TEST(NpuDeathTest, SaysWhatToSetWhenThereIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const std::string text = error_of([] { ones({2, 2}, kThere); });
        const bool good = !npu::is_available() && npu::device_count() == 0 && npu::provider_name().empty() &&
                          text.find("device 'npu:0' cannot be used") != std::string::npos &&
                          text.find("MINDTORCH_NPU=reference") != std::string::npos &&
                          npu::availability().reason().find("MINDTORCH_NPU=reference") != std::string::npos &&
                          error_of([] { npu::synchronize(); }).find("MINDTORCH_NPU=reference") != std::string::npos;
        std::exit(good ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(NpuDeathTest, ComesWithTheEnvironmentOrACall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MINDTORCH_NPU", "reference", 1);
        std::exit(npu::is_available() && npu::provider_name() == "reference" && ones({2}, kThere).sum().item<int>() == 2 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        npu::use_provider("reference");
        std::exit(npu::is_available() && npu::device_count() == 1 && (ones({2}, kThere) * 3).sum().item<int>() == 6 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(NpuTest, RefusesAProviderItDoesNotKnow) {
  EXPECT_THAT(error_of([] { npu::use_provider("wishful"); }), HasSubstr("unknown provider 'wishful'; there are: 'reference'"));
  npu::use_provider("reference");  // already in use
  EXPECT_EQ(npu::provider_name(), "reference");
}

TEST_F(NpuTest, RefusesADeviceThatDoesNotExist) {
  EXPECT_EQ(npu::device_count(), 2);
  EXPECT_THAT(error_of([] { ones({1}, {.device = Device("npu:2")}); }), HasSubstr("'npu:2' does not exist: there are 2"));
}

TEST_F(NpuTest, ComputesOnTheDeviceAndBringsTheResultBack) {
  const Tensor x = tensor<float>({1, 2, 3, 4}).to(kNPU);
  const Tensor y = x * x + 1;
  EXPECT_EQ(y.device(), Device(kNPU));
  EXPECT_NE(reference_device::device_of(y.data_ptr()), -1) << "its address is the device's";
  EXPECT_THAT(y.to(kCPU).to_vector<float>(), ElementsAre(2, 5, 10, 17));
}

TEST_F(NpuTest, CopiesStridedTensorsTypesAndBetweenDevices) {
  const Tensor x = tensor<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(x.t().to(kNPU).to(kCPU).to_vector<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(x.to(kNPU).t().contiguous().to_vector<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(x.to(kNPU, kInt64).to_vector<std::int64_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor there = x.to(kNPU).to(Device("npu:1"));
  EXPECT_EQ(there.device(), Device("npu:1"));
  EXPECT_THAT((there + 1).to(kNPU).to_vector<float>(), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THAT(ones({0, 3}, kThere).to(kCPU).to_vector<float>(), ::testing::IsEmpty());
}

TEST_F(NpuTest, ZeroesDenseMemoryAndPartsOfIt) {
  const Tensor whole = ones({2, 3}, kThere);
  whole.select(1, 1).zero_();
  EXPECT_THAT(whole.to_vector<float>(), ElementsAre(1, 0, 1, 1, 0, 1));
  whole.select(0, 1).zero_();
  EXPECT_THAT(whole.to_vector<float>(), ElementsAre(1, 0, 1, 0, 0, 0));
  EXPECT_THAT(ones({2, 3}, kThere).t().zero_().to_vector<float>(), Each(0));
  EXPECT_THAT(zeros({0, 3}, kThere).to_vector<float>(), ::testing::IsEmpty());
}

TEST_F(NpuTest, LetsTheHostGoOnWhileTheDeviceWorks) {
  const Tensor x = ones({4}, kThere);
  Hold hold;
  const Tensor y = x + x;
  EXPECT_FALSE(npu::Stream::current().query());
  hold.open();
  npu::synchronize();
  EXPECT_TRUE(npu::Stream::current().query());
  EXPECT_THAT(y.to_vector<float>(), Each(2));
}

TEST_F(NpuTest, TakesANonBlockingCopyOfWhatTheHostHasNow) {
  const Tensor here = ones({1000});
  Hold hold;
  const Tensor there = here.to(kNPU, false, true);
  here.fill_(7);  // the device has not read it yet
  hold.open();
  EXPECT_THAT(there.to_vector<float>(), Each(1));
}

TEST_F(NpuTest, CountsMemoryAsItIsAllocatedAndFreed) {
  npu::synchronize();
  const std::int64_t before = npu::memory_allocated();
  npu::reset_peak_memory_stats();
  {
    const Tensor x = empty({1000}, kThere);
    EXPECT_EQ(npu::memory_allocated(), before + 4096);
    EXPECT_GE(npu::memory_reserved(), npu::memory_allocated());
    EXPECT_EQ(npu::memory_stats().at("allocated_bytes.all.current"), npu::memory_allocated());
  }
  EXPECT_EQ(npu::memory_allocated(), before);
  EXPECT_EQ(npu::max_memory_allocated(), before + 4096);
  EXPECT_GE(npu::max_memory_reserved(), npu::memory_reserved());
  EXPECT_EQ(npu::memory_allocated(Device("npu:1")), 0) << "each device has its own";
}

TEST_F(NpuTest, GivesCachedMemoryBackToTheDevice) {
  { const Tensor x = empty({16 << 20}, kThere); }
  const auto [free_with_cache, total] = npu::mem_get_info();
  npu::empty_cache();
  EXPECT_EQ(total, static_cast<std::int64_t>(kNpuBytes));
  EXPECT_GE(npu::mem_get_info().first, free_with_cache + (64 << 20));
}

TEST_F(NpuTest, RunsOutOfMemoryWithTorchsKindOfErrorAndGoesOn) {
  const std::int64_t too_much = static_cast<std::int64_t>(kNpuBytes) / 4 + 1;
  EXPECT_THAT(error_of([&] { empty({too_much}, kThere); }), HasSubstr("npu:0 out of memory"));
  EXPECT_THROW(empty({too_much}, kThere), OutOfMemory);
  EXPECT_THAT(ones({3}, kThere).to_vector<float>(), Each(1));
}

TEST_F(NpuTest, RunsStreamsSideBySide) {
  const Tensor x = ones({4}, kThere);
  npu::synchronize();
  const npu::Stream side;
  EXPECT_NE(side, npu::Stream::default_of());
  EXPECT_GT(side.id(), 1);
  Hold hold;
  Tensor y;
  {
    npu::StreamGuard guard(side);
    EXPECT_EQ(npu::Stream::current(), side);
    y = x + 2;
  }
  EXPECT_EQ(npu::Stream::current(), npu::Stream::default_of());
  side.synchronize();  // although the default stream is held
  EXPECT_TRUE(side.query());
  EXPECT_FALSE(npu::Stream::default_of().query());
  hold.open();
  npu::synchronize();
  EXPECT_THAT(y.to_vector<float>(), Each(3));
}

TEST_F(NpuTest, OrdersStreamsByEvents) {
  const npu::Stream side;
  const Tensor x = zeros({4}, kThere);
  npu::synchronize();
  Hold hold;
  x.fill_(5);
  side.wait_stream(npu::Stream::current());
  Tensor y;
  {
    npu::StreamGuard guard(side);
    y = x * 2;
  }
  EXPECT_FALSE(side.query());
  hold.open();
  npu::synchronize();
  EXPECT_THAT(y.to_vector<float>(), Each(10));
}

TEST_F(NpuTest, MeasuresTimeBetweenEvents) {
  const npu::Event start, end;
  EXPECT_TRUE(start.query()) << "never recorded";
  EXPECT_THAT(error_of([&] { start.elapsed_time(end); }), HasSubstr("both events must be recorded"));
  start.record();
  Hold hold;
  end.record();
  EXPECT_FALSE(end.query());
  EXPECT_THAT(error_of([&] { start.elapsed_time(end); }), HasSubstr("synchronize first"));
  hold.open();
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GT(start.elapsed_time(end), 0);
}

TEST_F(NpuTest, DoesNotReuseMemoryOnAnotherStreamBeforeItsWorkIsDone) {
  npu::synchronize();
  npu::empty_cache();
  const npu::Stream side;
  const Tensor source = full({100'000}, 1.0, kThere);
  npu::synchronize();
  Hold hold;
  Tensor result;
  {
    const Tensor temporary = source + 1;  // queued behind the hold, and gone for the host
    result = temporary * 3;
  }
  {
    npu::StreamGuard guard(side);
    const Tensor other = full({100'000}, -7.0, kThere);  // gets the memory of `temporary`
  }
  EXPECT_FALSE(side.query()) << "waits for the stream that used the memory";
  hold.open();
  npu::synchronize();
  EXPECT_THAT(result.to_vector<float>(), Each(6));
}

TEST_F(NpuTest, ComputesGradientsAfterTheForwardWorkOfEveryStreamInTheStreamOfTheCaller) {
  const Tensor x = full({4}, 3.0, {.device = kNPU, .requires_grad = true});
  npu::synchronize();
  const npu::Stream forward, backward;
  Hold hold(forward);
  Tensor loss;
  {
    npu::StreamGuard guard(forward);
    loss = (x * x).sum();
  }
  {
    npu::StreamGuard guard(backward);
    loss.backward();
  }
  EXPECT_FALSE(backward.query()) << "waits for the forward stream";
  hold.open();
  backward.synchronize();
  EXPECT_TRUE(npu::Stream::default_of().query());
  npu::StreamGuard guard(backward);
  EXPECT_THAT(x.grad().to_vector<float>(), Each(6));
}

TEST_F(NpuTest, RaisesTheErrorOfAKernelWhenItIsWaitedForAndThenWorksAgain) {
  const Tensor x = ones({2}, kThere);
  device_backend(kNPU).launch(kNPU, "faulty", [](const AddressMap&) { throw_error<OutOfRange>("aten::embedding", "index 9 of 5"); });
  EXPECT_THAT(error_of([] { npu::synchronize(); }), HasSubstr("'faulty' failed on stream 1 of device 0: [aten::embedding] index 9 of 5"));
  npu::synchronize();
  EXPECT_THAT((x + x).to_vector<float>(), Each(2));
  const npu::Stream side;
  {
    npu::StreamGuard guard(side);
    device_backend(kNPU).launch(kNPU, "faulty", [](const AddressMap&) { throw_error("aten::op", "no"); });
  }
  EXPECT_THAT(error_of([&] { side.synchronize(); }), HasSubstr("[aten::op] no"));
  side.synchronize();
}

TEST_F(NpuTest, TrainsALinearModelToTheSameWeightsAsTheCpu) {
  const auto train = [](Device device) {
    const Tensor inputs = tensor<float>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 9}, {4, 2}).to(device);
    const Tensor targets = tensor<float>(std::vector<float>{5, 11, 17, 25}, {4, 1}).to(device);
    Tensor weight = zeros({2, 1}, {.device = device, .requires_grad = true});
    for (int step = 0; step < 20; ++step) {
      const Tensor error = inputs.mm(weight) - targets;
      const Tensor loss = (error * error).mean();
      loss.backward();
      weight = (weight.detach() - weight.grad() * 0.01).requires_grad_();
    }
    return weight.detach().to_vector<float>();
  };
  EXPECT_EQ(train(kNPU), train(kCPU));
}

}  // namespace
}  // namespace mindtorch::testing
