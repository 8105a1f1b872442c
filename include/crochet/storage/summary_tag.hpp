// SPDX-License-Identifier: Apache-2.0
// Tags of summaries: the names in TensorBoard, with its character set.
#pragma once

#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/graph/names/legal_name.hpp>

namespace crochet::io {

/// The tag for a name.
/// - Every character other than ASCII letters, digits, `_`, `-`, `/` and `.` becomes `_`; leading `/` are removed:
///   "train loss" -> "train_loss".
/// - Throws: LogicError if nothing is left.
/// - Differences from TensorFlow (docs/differences.md): it accepts letters of other languages here and rejects them
///   later; it also rejects a tag that begins with `_` or `-`.
inline std::string summary_tag(std::string_view name) {
  std::string tag;
  const auto put = [&](char c) { tag += c; };
  crochet::detail::LegalName legal(put);
  legal.add(name);
  if (tag.empty()) throw LogicError("crochet: \"" + std::string(name) + "\" leaves no name for a summary; name it");
  return tag;
}

}  // namespace crochet::io
