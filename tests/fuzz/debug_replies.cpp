// SPDX-License-Identifier: Apache-2.0
// The replies of a debug server. Each is preceded by its length, two bytes, the lower one first. An input that starts
// with A is parsed as addresses.
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/gates.hpp>

#include "fuzz_target.hpp"
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace {

using namespace crochet::debug;
using Change = crochet::proto::EventReply::DebugOpStateChange;

void address(std::string_view text) {
  try {
    const DebugAddress plain(text);
    require(plain.is_local() && !plain.tls() && plain.url().ends_with(plain.path()));
    require(DebugAddress(plain.url()).target() == plain.target());
  } catch (const crochet::LogicError&) {
  }
  try {
    const DebugAddress remote(InsecureRemote{std::string(text)});
    require(remote.is_unix() || remote.target().find('/') == std::string::npos);
  } catch (const crochet::LogicError&) {
  }
}

/// Each key has the state of its last accepted change.
void reply(Gates& gates, std::string_view bytes) {
  crochet::proto::EventReply message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const std::size_t refused = gates.apply(message);
  require(refused <= static_cast<std::size_t>(message.debug_op_state_changes_size()));
  for (const Change& change : message.debug_op_state_changes()) {
    const std::string key = change.node_name() + ":" + std::to_string(change.output_slot()) + ":" + change.debug_op();
    require(key.size() <= Gates::max_key_length || gates.of(key) == Gate::closed);
  }
  if (message.debug_op_state_changes_size() > 0) {
    Change last = message.debug_op_state_changes(message.debug_op_state_changes_size() - 1);
    const std::string key = last.node_name() + ":" + std::to_string(last.output_slot()) + ":" + last.debug_op();
    if (last.state() == Change::DISABLED) require(gates.of(key) == Gate::closed);
    if (last.state() == Change::READ_WRITE && refused == 0) require(gates.of(key) == Gate::read_write);
  }
}

}  // namespace

void fuzz(std::string_view bytes) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;  // about names that are not UTF-8
#endif
  if (bytes.starts_with('A')) return address(bytes.substr(1));
  Gates gates;
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<unsigned char>(bytes[0]) + 256U * static_cast<unsigned char>(bytes[1]);
    reply(gates, bytes.substr(2, length));
    bytes = bytes.substr(std::min(bytes.size(), 2 + length));
  }
}
