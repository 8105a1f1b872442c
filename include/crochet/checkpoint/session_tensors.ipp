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

CROCHET_INLINE void detail::refuse_step(const std::filesystem::path& prefix, const io::TensorEntry& entry,
                                        std::int64_t step) {
  const bool is_number =
      entry.elements == 1 && (entry.type == io::DataType::int64 || entry.type == io::DataType::int32);
  throw CheckpointMismatchError(
      "crochet: the global_step of " + prefix.string() + " is " +
      (is_number ? std::to_string(step)
                 : std::to_string(entry.elements) + " x " + std::string(io::name_of(entry.type))) +
      ", but a step is one int64 or int32 from 0 to 2^62; convert the checkpoint, or take the weights only, by an "
      "InitFromCheckpoint");
}

}  // namespace crochet
