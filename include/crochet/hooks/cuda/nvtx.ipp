// SPDX-License-Identifier: Apache-2.0
// The client's side of the NVTX 3 injection interface, as in nvtxDetail/nvtxTypes.h: the tool calls back for tables of
// function pointers, and writes its functions into those that it implements.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/shared_library.ipp>
#include <crochet/hooks/cuda/nvtx.hpp>

namespace crochet::cuda::detail {

using NvtxFunction = void (*)();

/// The functions of all modules. A tool may fill each of them; only two are called here.
struct NvtxTables {
  static constexpr std::size_t functions_of_a_module = 16;  // the largest module has the indices 1 to 15
  static constexpr std::size_t modules = 7;  // 1: core, 2: CUDA, 3: OpenCL, 4: runtime, 5: core2, 6: sync
  static constexpr std::array<unsigned, modules> sizes{0, 16, 9, 15, 7, 16, 7};
  static constexpr std::size_t core = 1, range_push = 9, range_pop = 11;

  std::array<std::array<NvtxFunction, functions_of_a_module>, modules> functions{};
  std::array<std::array<NvtxFunction*, functions_of_a_module + 1>, modules> pointers{};  // as NVTX: first and last null
};
inline NvtxTables& nvtx_tables() {
  static NvtxTables tables;
  return tables;
}

extern "C" inline int crochet_nvtx_module_table(int module, NvtxFunction*** table, unsigned* size) {
  if (module < 1 || module >= static_cast<int>(NvtxTables::modules)) return 0;
  const auto m = static_cast<std::size_t>(module);
  NvtxTables& tables = nvtx_tables();
  for (std::size_t k = 1; k < NvtxTables::sizes[m]; ++k) tables.pointers[m][k] = &tables.functions[m][k];
  if (size != nullptr) *size = NvtxTables::sizes[m];
  if (table != nullptr) *table = tables.pointers[m].data();
  return 1;
}
extern "C" inline void crochet_nvtx_set_tool_version(std::uint32_t /*version*/) {}

struct NvtxCallbacks {
  std::size_t struct_size = sizeof(NvtxCallbacks);
  int (*module_table)(int, NvtxFunction***, unsigned*) = &crochet_nvtx_module_table;
};
struct NvtxVersion {
  std::size_t struct_size = sizeof(NvtxVersion);
  std::uint32_t version = 3, reserved = 0;
  void (*set_tool_version)(std::uint32_t) = &crochet_nvtx_set_tool_version;
};

extern "C" inline const void* crochet_nvtx_export_table(std::uint32_t id) {
  static const NvtxCallbacks callbacks;
  static const NvtxVersion version;
  return id == 1 ? static_cast<const void*>(&callbacks) : id == 3 ? static_cast<const void*>(&version) : nullptr;
}

/// Loads the tool's library. Returns whether the tool has attached.
inline bool attach_nvtx_tool() {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr) return false;
  static const SharedLibrary library{path};
  int (*attach)(const void* (*)(std::uint32_t)) = nullptr;
  return library.find("InitializeInjectionNvtx2", attach) && attach(&crochet_nvtx_export_table) != 0;
}

}  // namespace crochet::cuda::detail

namespace crochet::cuda {

CROCHET_INLINE const Nvtx& nvtx() {
  static const Nvtx tool = [] {
    Nvtx made;
    if (!detail::attach_nvtx_tool()) return made;
    const auto& core = detail::nvtx_tables().functions[detail::NvtxTables::core];
    made.push_ = reinterpret_cast<Nvtx::Push>(core[detail::NvtxTables::range_push]);
    made.pop_ = reinterpret_cast<Nvtx::Pop>(core[detail::NvtxTables::range_pop]);
    return made;
  }();
  return tool;
}

}  // namespace crochet::cuda
