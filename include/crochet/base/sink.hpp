// SPDX-License-Identifier: Apache-2.0
// Sink: where hooks say things. Standard error, unless another sink is given.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/standard_error.hpp>

namespace crochet {

/// Takes one line of text, without an end-of-line. `Sink{}` writes it to standard error, above a ProgressBar if there
/// is one. Any copyable callable that takes a std::string_view will do instead; what it throws leaves the hook.
/// Hooks call it only when they have something to say.
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

}  // namespace crochet
