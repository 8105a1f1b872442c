// SPDX-License-Identifier: Apache-2.0
// Names of types as the compiler spells them, and the same without namespaces and with readable strings. Nothing in
// the second ones depends on where in a file, or in which function, a lambda is written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/hook/local_types.hpp>

namespace crochet::detail {

template <class T>
constexpr std::string_view compiler_type_name() {
#if defined(__GNUC__) || defined(__clang__)
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::size_t start = text.find("T = ") + 4;
  constexpr std::size_t semicolon = text.find("; std::string_view", start);  // g++ appends the expansion of its aliases
  return text.substr(start, (semicolon == std::string_view::npos ? text.rfind(']') : semicolon) - start);
#else
  constexpr std::string_view text = __FUNCSIG__;
  constexpr std::size_t start = text.find("type_name<") + 10;
  return text.substr(start, text.rfind(">(void)") - start);
#endif
}

/// The type of a string argument. Compilers write `crochet::` in front; clang 21 in some places does not.
inline constexpr std::string_view string_argument = "FixedString<";

/// Where a compiler omits the rest of a string argument.
inline constexpr std::string_view shortened_text = "\u2026";

/// Replaces one string argument in a compiler's spelling, starting at `at`, by the literal. Returns the number of
/// characters consumed, 0 if there is none. g++, and clang from 18 on: `FixedString<5>{"loss"}`; clang before:
/// `{{108, 111, 115, 115, 0}}`, of which it prints at most ten numbers, and `...` for the others.
template <class Out>
constexpr std::size_t append_literal(Out& out, std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with(string_argument)) {
    const std::size_t open = text.find('>', at) + 1;
    if (open == 0 || open == text.size() || text[open] != '{') return 0;  // a type argument
    if (text.substr(open).starts_with("{{")) return open - at + append_literal(out, text, open);
    const std::size_t close = text.find("\"}", open + 2);
    if (close == std::string_view::npos) return 0;
    out += text.substr(open + 1, close - open);
    return close + 2 - at;
  }
  if (!text.substr(at).starts_with("{{")) return 0;
  const std::size_t close = text.find("}}", at);
  if (close == std::string_view::npos) return 0;
  out += '"';
  int letter = 0;
  for (const char c : text.substr(at + 2, close - at - 2)) {
    if (c >= '0' && c <= '9') letter = letter * 10 + (c - '0');
    if (c == ',')
      out += static_cast<char>(letter), letter = 0;  // the last number, the terminating zero, is not
                                                     // followed by a comma
  }
  if (text.substr(0, close).ends_with("...")) out += shortened_text;
  out += '"';
  return close + 2 - at;
}

/// Whether the name is that of an instance of a template, `A<...>`, and not of a member of one, `A<...>::B<...>`.
constexpr bool is_instance(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = text.find('<'); i < text.size(); ++i) {
    if (text[i] == '"' && text[i - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

/// The length that a text has at most while it is written.
struct PeakLength {
  constexpr void operator+=(char) { *this += std::string_view(" "); }
  constexpr void operator+=(std::string_view text) {
    length += text.size();
    if (length > peak) peak = length;
  }
  constexpr void resize(std::size_t n) { length = n; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }

  std::size_t length = 0;
  std::size_t peak = 0;
};

template <class Out>
constexpr void write_readable(Out& out, std::string_view text);

/// The length of the readable text in front of the type whose spelling ends at `end`.
constexpr std::size_t length_before_type(std::string_view text, std::size_t end) {
  PeakLength length;
  write_readable(length, text.substr(0, start_of_type(text, end)));
  return length.size();
}

/// Appends a compiler's type name to `out` (a string, or another type with the same members), without namespaces and
/// functions, with readable strings, and with `lambda` for a lambda.
template <class Out>
constexpr void write_readable(Out& out, std::string_view text) {
  const std::size_t begin = out.size();
  std::size_t word = begin;  // where the current identifier starts, in `out`
  std::size_t start = 0;     // the same in `text`
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    // Most characters end here: constant evaluation takes milliseconds for a long name.
    if (in_word(c) && !(i == start && c == string_argument.front() && text.substr(i).starts_with(string_argument))) {
      out += c;
      ++i;
      continue;
    }
    const std::string_view rest = text.substr(i);
    if (const std::size_t eaten = append_literal(out, text, i); eaten > 0) {
      i += eaten;
    } else if (const NamelessType nameless = nameless_type(rest); nameless.length > 0) {
      out.resize(begin + length_before_type(text, i));
      i += nameless.length;
      if (text.substr(i).starts_with("::")) {
        i += 2;  // a type in the lambda
      } else {
        out += nameless.name;
      }
    } else if (rest.starts_with("::")) {
      if (ends_function(text.substr(0, i))) {
        out.resize(begin + length_before_type(text, i));
      } else if (text[i - 1] == '>') {
        out += "::";  // a member of a template
      } else {
        out.resize(word);
      }
      i += 2;
    } else if (rest.starts_with("(anonymous namespace)::") || rest.starts_with("{anonymous}::")) {
      i += rest.front() == '(' ? 23U : 13U;
    } else if (rest.starts_with(" >")) {  // g++ separates closing brackets by a blank
      ++i;
    } else {
      out += c;
      ++i;
    }
    word = out.size();
    start = i;
  }
}
CROCHET_COLD inline std::string readable_type_name(std::string_view text) {
  std::string out;
  write_readable(out, text);
  return out;
}

}  // namespace crochet::detail
