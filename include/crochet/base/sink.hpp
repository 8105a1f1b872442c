// SPDX-License-Identifier: Apache-2.0
// Sink: where hooks write text. Standard error by default.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/standard_error.hpp>

namespace crochet {

/// Takes one line of text, without an end-of-line. Hooks call it only when they have something to report.
/// - `Sink{}` writes to standard error, above a ProgressBar if there is one.
/// - Alternatively any copyable callable that takes a std::string_view. An exception from it passes through the hook.
class Sink {
 public:
  Sink() = default;
  template <class F>
  requires(!std::same_as<F, Sink> && std::is_invocable_v<const F&, std::string_view>) Sink(F sink)
      : other_(std::move(sink)) {}  // NOLINT(google-explicit-constructor): `.sink = my_sink`

  void operator()(std::string_view line) const { other_ ? other_(line) : detail::write_line(line); }

 private:
  std::function<void(std::string_view)> other_;
};

/// Drops the lines: `.sink = no_lines`.
inline constexpr auto no_lines = [](std::string_view /*line*/) {};

}  // namespace crochet
