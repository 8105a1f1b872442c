// SPDX-License-Identifier: Apache-2.0
// Deterministic serialization: equal messages give equal bytes.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace crochet::io {

/// The message as bytes, with maps sorted by key.
std::string serialized(const google::protobuf::MessageLite& message);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/serialized.ipp>
#endif
