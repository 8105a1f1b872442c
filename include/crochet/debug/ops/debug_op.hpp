// SPDX-License-Identifier: Apache-2.0
// DebugOp: the operation that a debug hook applies to a watched tensor, parsed from TensorFlow's text form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/ops/numeric_summary.hpp>
#include <crochet/debug/ops/op_text.hpp>
#include <crochet/debug/ops/tensor.hpp>

namespace crochet::debug {

/// One debug operation and its attributes:
///   gated_grpc       false      all: sent to a server only while the server enables the watch; no effect on files
///   lower_bound      -inf       DebugNumericSummary: elements <= this are counted as too low
///   upper_bound      inf        DebugNumericSummary: elements >= this are counted as too high
///   mute_if_healthy  false      DebugNumericSummary: published only if there is a NaN, an infinity or an element
///                               beyond a bound
/// `DebugIdentity` publishes the tensor, `DebugNanCount` the number of NaN as int64 [1], `DebugNumericSummary` the
/// numbers of numeric_summary.hpp as float64 [14 + rank].
struct DebugOp {
  enum class Kind : std::uint8_t { identity, nan_count, numeric_summary };

  Kind kind = Kind::identity;
  bool gated_grpc = false;
  float lower_bound = -std::numeric_limits<float>::infinity();
  float upper_bound = std::numeric_limits<float>::infinity();
  bool mute_if_healthy = false;

  /// Parses `Name` or `Name(attribute=value;...)`, as in `DebugNumericSummary(lower_bound=-2.0;mute_if_healthy=true)`.
  /// Attributes are separated by `;`; blanks around them are ignored. Throws LogicError with the text and the error; a
  /// repeated or unknown attribute is an error.
  static DebugOp parse(std::string_view text) {
    const OpText parts{text};
    DebugOp op;
    op.kind = kind_of(parts);
    for (const auto& [key, value] : parts.attributes()) op.set(parts, key, value);
    return op;
  }

  /// The name without attributes, as in file names and watch keys.
  [[nodiscard]] std::string_view name() const {
    constexpr std::array<std::string_view, 3> names{"DebugIdentity", "DebugNanCount", "DebugNumericSummary"};
    return names[static_cast<std::size_t>(kind)];
  }

  /// Whether the operation supports this element type. TensorFlow rejects a graph with an unsupported one.
  [[nodiscard]] bool takes(io::DataType type) const {
    if (kind == Kind::identity) return true;
    return kind == Kind::numeric_summary ? can_be_summarized(type) : can_be_counted(type);
  }

  /// Applies the operation and calls `publish(const Tensor&)` with the result, which is valid during the call; a muted
  /// result is not published. Precondition: `takes(tensor.dtype)`. Cost: none for DebugIdentity, one pass over the
  /// elements for DebugNanCount, two for DebugNumericSummary.
  template <class Publish>
  void evaluate(const Tensor& tensor, Publish&& publish) const {
    if (kind == Kind::identity) return publish(tensor);
    if (kind == Kind::nan_count) {
      const std::int64_t count = nan_count(tensor);
      return publish_numbers(io::DataType::int64, std::span(&count, 1), publish);
    }
    const std::vector<double> summary = numeric_summary(tensor, lower_bound, upper_bound);
    if (!mute_if_healthy || !is_healthy(summary)) {
      publish_numbers(io::DataType::float64, std::span<const double>(summary), publish);
    }
  }

  bool operator==(const DebugOp&) const = default;

 private:
  static Kind kind_of(const OpText& text) {
    for (const Kind kind : {Kind::identity, Kind::nan_count, Kind::numeric_summary}) {
      if (DebugOp op{kind}; op.name() == text.name()) return kind;
    }
    text.fail("there is no debug operation of this name; there are DebugIdentity, DebugNanCount, DebugNumericSummary");
  }

  void set(const OpText& text, std::string_view key, std::string_view value) {
    const bool summary = kind == Kind::numeric_summary;
    if (key == "gated_grpc") {
      gated_grpc = text.boolean(key, value);
    } else if (summary && key == "lower_bound") {
      lower_bound = text.number(key, value);
    } else if (summary && key == "upper_bound") {
      upper_bound = text.number(key, value);
    } else if (summary && key == "mute_if_healthy") {
      mute_if_healthy = text.boolean(key, value);
    } else {
      std::string what(1, '"');  // not a literal + string: at -O3 g++ 12 then warns of a copy that overlaps itself
      what.append(key).append("\" is no attribute of ").append(name());
      what += summary ? "; it has gated_grpc, lower_bound, upper_bound, mute_if_healthy" : "; it has gated_grpc";
      text.fail(what);
    }
  }

  template <class T, class Publish>
  static void publish_numbers(io::DataType type, std::span<const T> numbers, Publish&& publish) {
    const auto extent = static_cast<std::int64_t>(numbers.size());
    publish(Tensor{type, std::span(&extent, 1), std::as_bytes(numbers)});
  }
};

}  // namespace crochet::debug
