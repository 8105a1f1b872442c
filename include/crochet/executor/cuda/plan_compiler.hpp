// SPDX-License-Identifier: Apache-2.0
// The code of a plan: from the cache on disk, else compiled.
#pragma once
#include <string>
#include <string_view>

namespace crochet::cuda {

/// All that the code of a plan depends on: its text, the headers, the architecture and the compiler. Throws DeviceError
/// without NVRTC.
std::string plan_cache_key(std::string_view text, int architecture);

/// The code of a plan (plan_text.hpp) for an architecture, as compile_text(); kept in CubinCache::default_folder().
std::string compiled_plan(std::string_view text, int architecture);

}  // namespace crochet::cuda
