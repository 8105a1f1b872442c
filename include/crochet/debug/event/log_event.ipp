// SPDX-License-Identifier: Apache-2.0
// The compiled half of log_event.hpp.
#pragma once

#include <crochet/debug/event/log_event.hpp>

#include <string>
#include <utility>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>

namespace crochet::debug {

CROCHET_INLINE proto::Event log_event(std::string text) {
  proto::Event event;
  event.set_allocated_log_message(new proto::LogMessage);  // not by mutable_log_message: see summary_proto.ipp
  event.mutable_log_message()->set_message(std::move(text));
  return event;
}

}  // namespace crochet::debug
