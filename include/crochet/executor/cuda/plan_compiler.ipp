// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/cubin_cache.hpp>
#include <crochet/executor/cuda/device_headers.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_compiler.hpp>

namespace crochet::cuda {

CROCHET_INLINE std::string plan_cache_key(std::string_view text, int architecture) {
  std::string key = "sm_" + std::to_string(architecture) + ", NVRTC " + nvrtc_version() + "\n";
  key.append(text);
  for (const DeviceHeader& h : device_headers()) key.append(h.name).append("\n").append(h.text);
  return key;
}

CROCHET_INLINE std::string compiled_plan(std::string_view text, int architecture) {
  return CubinCache(CubinCache::default_folder()).find_or_compile(plan_cache_key(text, architecture), [&] {
    return compile_text(text, {.architecture = architecture}).code;
  });
}

}  // namespace crochet::cuda
