// A program with NVTX, to which the tool connects.
#pragma once

#include <cstdint>

#include "mindtorch/bridges/nvtx/injection.h"
#include "mindtorch/bridges/nvtx/nvtx_abi.h"

namespace mindtorch::nvtx {

// A copy of NVTX: what a program calls until a tool has put its functions here.
struct Client {
  static constexpr unsigned int kFunctions = 16;
  FunctionPointer core[kFunctions] = {}, core2[kFunctions] = {};
  FunctionPointer *core_table[kFunctions] = {}, *core2_table[kFunctions] = {};

  Client() {
    for (unsigned int i = 1; i < kFunctions; ++i) core_table[i] = &core[i], core2_table[i] = &core2[i];
  }
  template <class Returned, class... Arguments>
  Returned call(CoreFunction function, Arguments... arguments) {
    return reinterpret_cast<Returned (*)(Arguments...)>(core[function])(arguments...);
  }
  template <class Returned, class... Arguments>
  Returned call(Core2Function function, Arguments... arguments) {
    return reinterpret_cast<Returned (*)(Arguments...)>(core2[function])(arguments...);
  }
  int push(const char* text) { return call<int>(kRangePushA, text); }
  int pop() { return call<int>(kRangePop); }
};

inline Client* connecting = nullptr;

inline int get_table(std::int32_t module, FunctionTable* table, unsigned int* size) {
  if (module != kCore && module != kCore2) return 0;
  *table = module == kCore ? connecting->core_table : connecting->core2_table;
  *size = Client::kFunctions;
  return 1;
}

inline const void* get_export_table(std::uint32_t table) {
  static const ExportTableCallbacks callbacks{sizeof(ExportTableCallbacks), &get_table};
  return table == kCallbacksTable ? &callbacks : nullptr;
}

}  // namespace mindtorch::nvtx
