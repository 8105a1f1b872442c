// SPDX-License-Identifier: Apache-2.0
// Parses the text of a core metadata event.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <string_view>

#include <crochet/debug/event/core_metadata.hpp>

namespace crochet::debug {

/// Parses the JSON of core metadata. All six keys are required; unknown keys are ignored (`dropped`, if present, must
/// be a whole number). Throws DataLossError with the cause, also for more than 262,144 names and other parts.
/// TensorFlow does not escape names: a file with a quote in a name cannot be parsed.
CoreMetadata parse_core_metadata(std::string_view text);

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/parse_core_metadata.ipp>
#endif
