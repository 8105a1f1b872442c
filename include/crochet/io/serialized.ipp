// SPDX-License-Identifier: Apache-2.0
// The compiled half of serialized.hpp.
#pragma once

#include <crochet/io/serialized.hpp>

#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <crochet/base/error.hpp>

namespace crochet::io {

CROCHET_INLINE std::string serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);  // sorts maps by key: equal graphs give equal bytes
  if (!message.SerializeToCodedStream(&out)) {
    throw ResourceExhaustedError("crochet: a graph has " + std::to_string(message.ByteSizeLong()) +
                                 " bytes; protobuf's limit is 2 GiB");
  }
  out.Trim();
  return bytes;
}

}  // namespace crochet::io
