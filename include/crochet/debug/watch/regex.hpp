// SPDX-License-Identifier: Apache-2.0
// Regex: patterns for node names, at compile time and at run time. The worst-case time of a match is proportional to
// the product of the lengths of pattern and text: no pattern needs exponential time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/debug/watch/regex_program.hpp>

namespace crochet::debug {

/// A pattern of up to `Capacity` instructions (about two per character).
template <std::size_t Capacity>
class BasicRegex {
 public:
  constexpr explicit BasicRegex(std::string_view pattern) : program_(pattern) {}

  /// `none` if the pattern is valid.
  [[nodiscard]] constexpr RegexError error() const { return program_.error(); }
  /// The position of the error in the pattern.
  [[nodiscard]] constexpr std::size_t error_at() const { return program_.error_at(); }
  /// The number of instructions of the pattern.
  [[nodiscard]] constexpr std::size_t size() const { return program_.size(); }

  /// Python's `re.match`: whether the pattern matches at the beginning of the text. `$` matches at its end, or before a
  /// final newline. False if the pattern is invalid.
  [[nodiscard]] constexpr bool match(std::string_view text) const {
    if (error() != RegexError::none) return false;
    std::array<Places, 2> places{};
    std::array<std::uint32_t, Capacity> seen{};  // position + 1 at which an instruction was last reached
    if (reach(places[0], 0, text, 0, seen)) return true;
    for (std::size_t at = 0; at < text.size() && places[at % 2].count > 0; ++at) {
      const Places& now = places[at % 2];
      Places& next = places[(at + 1) % 2];
      next.count = 0;
      for (std::size_t i = 0; i < now.count; ++i) {
        const std::size_t place = now.at[i];
        if (program_.takes(place, text[at]) && reach(next, place + 1, text, at + 1, seen)) return true;
      }
    }
    return false;
  }

 private:
  struct Places {
    std::array<std::uint16_t, Capacity> at{};
    std::size_t count = 0;
  };

  /// Adds the character instructions that are reachable from `place` without consuming a character. Returns true if the
  /// end of the pattern is reachable.
  constexpr bool reach(Places& places, std::size_t place, std::string_view text, std::size_t at,
                       std::array<std::uint32_t, Capacity>& seen) const {
    std::array<std::uint16_t, Capacity> stack{};
    std::size_t depth = 0;
    push(stack, depth, place, 0, seen, at);
    while (depth > 0) {
      const std::size_t here = stack[--depth];
      const RegexStep& step = program_.step(here);
      switch (step.kind) {
        case RegexStep::match:
          return true;
        case RegexStep::split:
          push(stack, depth, here, step.other, seen, at);
          push(stack, depth, here, step.next, seen, at);
          break;
        case RegexStep::jump:
          push(stack, depth, here, step.next, seen, at);
          break;
        case RegexStep::begin:
          if (at == 0) push(stack, depth, here, 1, seen, at);
          break;
        case RegexStep::end:
          if (at == text.size() || (at + 1 == text.size() && text[at] == '\n')) push(stack, depth, here, 1, seen, at);
          break;
        case RegexStep::very_end:
          if (at == text.size()) push(stack, depth, here, 1, seen, at);
          break;
        default:
          places.at[places.count++] = static_cast<std::uint16_t>(here);
      }
    }
    return false;
  }
  /// Pushes each instruction at most once per text position, so that `Capacity` entries suffice.
  static constexpr void push(std::array<std::uint16_t, Capacity>& stack, std::size_t& depth, std::size_t here, int by,
                             std::array<std::uint32_t, Capacity>& seen, std::size_t at) {
    const auto to = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(here) + by);
    if (seen[to] == at + 1) return;
    seen[to] = static_cast<std::uint32_t>(at + 1);
    stack[depth++] = static_cast<std::uint16_t>(to);
  }

  RegexProgram<Capacity> program_;
};

/// A pattern that is read at run time. Memory: about 30 kB, shared by copies.
class Regex {
 public:
  /// Throws LogicError for an invalid pattern, with the pattern, the position and the reason, and for one of more than
  /// 1000 instructions.
  explicit Regex(std::string_view pattern) : regex_(std::make_shared<const BasicRegex<1000>>(pattern)) {
    if (regex_->error() == RegexError::none) return;
    throw LogicError("crochet: the pattern \"" + std::string(pattern) + "\" cannot be used, at character " +
                     std::to_string(regex_->error_at()) + ": " + std::string(text_of(regex_->error())));
  }
  [[nodiscard]] bool match(std::string_view text) const { return regex_->match(text); }

 private:
  std::shared_ptr<const BasicRegex<1000>> regex_;
};

}  // namespace crochet::debug
