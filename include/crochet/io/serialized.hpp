// SPDX-License-Identifier: Apache-2.0
// A message as bytes, the same for equal messages.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace crochet::io::detail {

/// Maps are in the order of their keys.
std::string serialized(const google::protobuf::MessageLite& message);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/serialized.ipp>
#endif
