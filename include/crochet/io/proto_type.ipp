// SPDX-License-Identifier: Apache-2.0
// The element types of graphs in messages.
#pragma once

#include <array>
#include <cstddef>

#include <crochet/proto/tensor.pb.h>
#include <crochet/graph/core/dtype.hpp>

namespace crochet::io {

constexpr proto::DataType proto_type(DType type) {
  constexpr std::array types{proto::DT_FLOAT, proto::DT_DOUBLE, proto::DT_INT32,   proto::DT_INT64,
                             proto::DT_UINT8, proto::DT_BOOL,   proto::DT_BFLOAT16};
  return types[static_cast<std::size_t>(type)];
}

}  // namespace crochet::io
