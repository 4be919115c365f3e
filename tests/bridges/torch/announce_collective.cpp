// What NCCL's process group announces before a collective, without NCCL: the parameters that profilers record.
#include <string>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <tuple>
#include <vector>

extern "C" void announce_collective() {
  const std::vector<int64_t> in_splits{1, 2}, out_splits{3};
  RECORD_PARAM_COMMS(std::make_tuple(static_cast<int64_t>(7), false), std::make_tuple(std::string("0"), std::string("default_pg")), 1,
                     std::string("alltoall_base"), 64, 128, at::kHalf, in_splits, out_splits, 0, 1, 2);
}
