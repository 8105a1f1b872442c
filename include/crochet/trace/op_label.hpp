// SPDX-License-Identifier: Apache-2.0
// The parts of labels in step statistics, as TensorFlow's timeline parses them.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace crochet::trace {

/// The parts of a label `name = Op(input, input)`.
struct OpLabel {
  std::string_view op = "unknown";
  std::vector<std::string_view> inputs{};
};

namespace detail {
std::vector<std::string_view> split(std::string_view text, std::string_view separator);
}  // namespace detail

/// Parses like TensorFlow's `(.*) = (.*)\((.*)\)`: the last closing parenthesis of the first line closes the inputs,
/// the last opening one before it opens them, and the last " = " before that begins the op. Without these three,
/// `unknown`.
OpLabel parse_op_label(std::string_view label);

/// Name and op of a record of a device's own tracer: `name:op`, in the label between `@@` and `#` if present.
std::pair<std::string_view, std::string_view> parse_kernel_label(std::string_view label, std::string_view name);

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/op_label.ipp>
#endif
