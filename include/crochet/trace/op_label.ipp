// SPDX-License-Identifier: Apache-2.0
// The compiled half of op_label.hpp.
#pragma once

#include <crochet/trace/op_label.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace crochet::trace::detail {

CROCHET_INLINE std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

}  // namespace crochet::trace::detail

namespace crochet::trace {

CROCHET_INLINE OpLabel parse_op_label(std::string_view label) {
  label = label.substr(0, label.find('\n'));  // a dot matches no line end
  const std::size_t close = label.rfind(')');
  if (close == std::string_view::npos || close == 0) return {};
  const std::size_t open = label.rfind('(', close - 1);
  if (open == std::string_view::npos || open < 3) return {};
  const std::size_t equals = label.rfind(" = ", open - 3);
  if (equals == std::string_view::npos) return {};
  OpLabel parsed{label.substr(equals + 3, open - equals - 3)};
  const std::string_view inputs = label.substr(open + 1, close - open - 1);
  if (!inputs.empty()) parsed.inputs = detail::split(inputs, ", ");
  return parsed;
}

CROCHET_INLINE std::pair<std::string_view, std::string_view> parse_kernel_label(std::string_view label,
                                                                                std::string_view name) {
  const std::size_t start = label.find("@@");
  const std::size_t end = label.find('#');
  if (start != std::string_view::npos && end != std::string_view::npos && start + 2 < end) {
    name = label.substr(start + 2, end - start - 2);
  }
  const std::vector<std::string_view> fields = detail::split(name, ":");
  return {fields[0], fields.size() > 1 ? fields[1] : "unknown"};
}

}  // namespace crochet::trace
