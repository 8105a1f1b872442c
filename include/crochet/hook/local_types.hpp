// SPDX-License-Identifier: Apache-2.0
// Lambdas, other types without a name, and types of functions, in a compiler's spelling. It contains what an edit of
// the source changes: lines, and signatures of functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace crochet::detail {

constexpr bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A type without a name: how many characters the compiler's spelling has, and what replaces them.
struct NamelessType {
  std::size_t length = 0;  ///< 0: there is none
  std::string_view name{};
};

/// Whether the character at `at` belongs to the name of an operator: `operator<`, `operator bool`.
constexpr bool in_operator(std::string_view text, std::size_t at) {
  constexpr std::string_view signs = "<>=-, ";
  if (signs.find(text[at]) == std::string_view::npos) return false;
  while (at > 0 && signs.find(text[at - 1]) != std::string_view::npos) --at;
  const std::string_view before = text.substr(0, at);
  return before.ends_with("operator") && (before.size() == 8 || !in_word(before[before.size() - 9]));
}
/// Whether the text starts with what may stand behind the parameters of a function: `Model::hooks() const::Local`.
constexpr bool starts_with_qualifier(std::string_view text) {
  return text.starts_with(" const") || text.starts_with(" &") || text.starts_with(" mutable");
}
/// Whether the scope that ends here is a function.
constexpr bool ends_function(std::string_view scope) {
  if (scope.ends_with('&')) scope.remove_suffix(scope.ends_with(" &&") ? 3 : 2);
  if (scope.ends_with(" const")) scope.remove_suffix(6);
  return scope.ends_with(')');
}

/// The start of the type whose spelling ends at `end`: of a template argument, of a parameter, or of the whole text.
constexpr std::size_t start_of_type(std::string_view text, std::size_t end) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = end; i > 0; --i) {
    const char c = text[i - 1];
    if (c == '"' && !text.substr(0, i - 1).ends_with('\\')) quoted = !quoted;
    const bool opens = c == '<' || c == '(' || c == '[' || c == '{',
               closes = c == '>' || c == ')' || c == ']' || c == '}';
    const bool separates = depth == 0 && (c == ',' || (c == ' ' && !starts_with_qualifier(text.substr(i - 1))));
    if (quoted || !(opens || closes || separates) || in_operator(text, i - 1)) continue;
    if (separates || (opens && depth == 0)) return i;
    depth += closes ? 1 : -1;
  }
  return 0;
}

/// The characters of g++'s `<lambda(auto:1, int)>`, and of ` mutable` behind it.
constexpr std::size_t length_of_lambda(std::string_view text) {
  int depth = 0;
  std::size_t i = 0;
  do {
    if (text[i] == '<' || text[i] == '(') ++depth;
    if (text[i] == '>' || text[i] == ')') --depth;
    ++i;
  } while (depth > 0 && i < text.size());
  return i + (text.substr(i).starts_with(" mutable") ? 8 : 0);
}
/// The characters of clang's `(lambda at model.cpp:20:12)`; 0 if it is none.
constexpr std::size_t length_with_position(std::string_view text) {
  const auto digits = [](std::string_view& of) {
    const std::size_t before = of.size();
    while (!of.empty() && of.back() >= '0' && of.back() <= '9') of.remove_suffix(1);
    const bool good = of.size() < before && of.ends_with(':');
    if (good) of.remove_suffix(1);
    return good;
  };
  for (std::size_t close = text.find(')'); close != std::string_view::npos; close = text.find(')', close + 1)) {
    std::string_view inside = text.substr(0, close);  // the name of a file may contain brackets
    if (digits(inside) && digits(inside)) return close + 1;
  }
  return 0;
}

/// The type without a name that starts the text: g++'s `<lambda(int)>` and `<unnamed enum>`, clang's
/// `(lambda at model.cpp:20:12)` and `(unnamed enum at model.cpp:20:12)`.
constexpr NamelessType nameless_type(std::string_view text) {
  if (text.front() != '<' && text.front() != '(') return {};
  if (text.starts_with("<lambda(")) return {length_of_lambda(text), "lambda"};
  if (text.starts_with("(lambda at ")) return {length_with_position(text), "lambda"};
  const bool unnamed = text.starts_with("<unnamed ") || text.starts_with("(unnamed ");
  if (!unnamed) return {};
  for (const std::string_view name : {"<unnamed enum>", "<unnamed struct>", "<unnamed class>", "<unnamed union>"}) {
    if (text.starts_with(name)) return {name.size(), name};
    if (text.substr(1).starts_with(name.substr(1, name.size() - 2))) return {length_with_position(text), name};
  }
  return {};
}

}  // namespace crochet::detail
