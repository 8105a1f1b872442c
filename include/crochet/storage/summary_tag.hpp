// SPDX-License-Identifier: Apache-2.0
// Tags of summaries: the names that TensorBoard shows, made of the characters that it can.
#pragma once

#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/graph/names/legal_name.hpp>

namespace crochet::io {

/// The tag of that name: every character other than ASCII letters, digits, `_`, `-`, `/` and `.` becomes `_`, leading
/// `/` are left out: "train loss" -> "train_loss". The original keeps other languages' letters at first and refuses
/// them later; it also refuses a tag that begins with `_` or `-`, which is kept here (docs/differences.md). Throws
/// LogicError if nothing is left.
inline std::string summary_tag(std::string_view name) {
  std::string tag;
  const auto put = [&](char c) { tag += c; };
  crochet::detail::LegalName legal(put);
  legal.add(name);
  if (tag.empty()) throw LogicError("crochet: \"" + std::string(name) + "\" leaves no name for a summary; name it");
  return tag;
}

}  // namespace crochet::io
