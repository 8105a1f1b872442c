// SPDX-License-Identifier: Apache-2.0
// Limits for events that are read from files and streams.
#pragma once

#include <cstdint>

namespace crochet::debug {

inline constexpr std::uint64_t max_text = std::uint64_t{1} << 20;  // maximum bytes of a name or of the plug-in's data
inline constexpr std::uint64_t max_event = 0x7fffffff;             // bytes: protobuf's limit for a message
inline constexpr int max_dimensions = 254;                         // TensorFlow's own limit

}  // namespace crochet::debug
