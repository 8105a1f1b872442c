// SPDX-License-Identifier: Apache-2.0
// NaN and infinities of a watched tensor, from the data of a debug op.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <crochet/debug/ops/elements.hpp>
#include <crochet/debug/server/received_tensor.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debugd {

struct BadNumbers {
  bool nan = false, infinite = false;
};

/// Counts those of the watched tensor: DebugIdentity contains it, the other two ops contain counts. Cost: a pass over
/// the bytes.
inline BadNumbers bad_numbers(const debug::ReceivedTensor& tensor) {
  const auto type = static_cast<io::DataType>(tensor.tensor().dtype());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(tensor.tensor().tensor_content()));
  BadNumbers bad;
  if (tensor.key.debug_op == "DebugIdentity") {
    debug::for_each_element(type, bytes, [&]<class T>(T element) {
      if constexpr (std::is_floating_point_v<T>) {
        bad.nan = bad.nan || std::isnan(element);
        bad.infinite = bad.infinite || std::isinf(element);
      } else if constexpr (!std::is_integral_v<T>) {
        bad.nan = bad.nan || std::isnan(element.real()) || std::isnan(element.imag());
        bad.infinite = bad.infinite || std::isinf(element.real()) || std::isinf(element.imag());
      }
    });
  } else if (tensor.key.debug_op == "DebugNanCount" && type == io::DataType::int64 && bytes.size() == 8) {
    std::int64_t count = 0;
    std::memcpy(&count, bytes.data(), sizeof count);
    bad.nan = count > 0;
  } else if (tensor.key.debug_op == "DebugNumericSummary" && type == io::DataType::float64 && bytes.size() >= 14 * 8) {
    double summary[14];  // 2: NaN; 3 and 7: infinite, or beyond the op's bounds
    std::memcpy(summary, bytes.data(), sizeof summary);
    bad = {summary[2] > 0, summary[3] > 0 || summary[7] > 0};
  }
  return bad;
}

}  // namespace crochet::debugd
