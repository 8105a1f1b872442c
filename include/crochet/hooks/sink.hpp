// SPDX-License-Identifier: Apache-2.0
// Sink: where hooks say things. Standard error, unless another sink is given.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace crochet {

namespace detail {

/// Is a progress bar the last thing on the terminal? A line that follows has to clear it first.
inline std::atomic<bool> bar_on_terminal{false};

inline void write_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

inline void write_line(std::string_view line) {
  std::string text = bar_on_terminal.exchange(false) ? "\r\x1b[K" : "";
  text.append(line) += '\n';
  write_text(text);  // in one piece, so that lines of several threads stay whole
}

}  // namespace detail

/// Takes one line of text, without an end-of-line. `Sink{}` writes it to standard error, where it does not collide with
/// a ProgressBar. Any copyable callable that takes a std::string_view will do instead; what it throws leaves the hook.
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
