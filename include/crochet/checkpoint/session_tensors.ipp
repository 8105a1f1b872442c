// SPDX-License-Identifier: Apache-2.0
// The compiled half of session_tensors.hpp.
#pragma once

#include <crochet/checkpoint/session_tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/variables.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet {

CROCHET_INLINE std::string Restored::text() const {
  std::string line = prefix.string() + ", step " + std::to_string(step) + "; hooks: " + hooks.text();
  if (ignored.size() > 3) {
    line += "; ignored: " + std::to_string(ignored.size()) + " tensors";
  } else {
    for (std::size_t i = 0; i < ignored.size(); ++i) (line += i == 0 ? "; ignored: " : ", ") += ignored[i];
  }
  if (converted.empty()) return line;
  return line + "; converted from another floating type: " + std::to_string(converted.size()) +
         (converted.size() == 1 ? " variable" : " variables");
}

}  // namespace crochet
