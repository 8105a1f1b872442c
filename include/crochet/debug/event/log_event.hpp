// SPDX-License-Identifier: Apache-2.0
// An event with a text, as the files of a run's directory and the metadata of a run are.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <string>

#include <crochet/io/messages.hpp>

namespace crochet::debug {

/// An event whose log message is `text`, without a time.
proto::Event log_event(std::string text);

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/log_event.ipp>
#endif
