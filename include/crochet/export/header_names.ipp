// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_names.hpp.
#pragma once

#include <crochet/export/header_names.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::detail {

inline constexpr const char* cpp_keywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};
inline constexpr const char* other_taken_names[] = {
    "std",         "predict",     "workspace",      "workspace_size", "NULL",      "offsetof",
    "AVR",         "hpux",        "i386",           "linux",          "mips",      "sparc",
    "sun",         "unix",        "max_align_t",    "nullptr_t",      "ptrdiff_t", "size_t",
    "PTRDIFF_MAX", "PTRDIFF_MIN", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN", "SIZE_MAX",  "WCHAR_MAX",
    "WCHAR_MIN",   "WINT_MAX",    "WINT_MIN"};

CROCHET_INLINE std::set<std::string> taken_identifiers() {
  std::set<std::string> taken(std::begin(cpp_keywords), std::end(cpp_keywords));
  taken.insert(std::begin(other_taken_names), std::end(other_taken_names));
  for (const std::string size : {"8", "16", "32", "64", "MAX", "PTR"}) {
    const bool is_width = size[0] < 'A';
    for (const std::string kind : {"", "_LEAST", "_FAST"}) {
      if (!is_width && !kind.empty()) continue;
      for (const std::string sign : {"INT", "UINT"}) {
        std::string type = sign + kind + size;
        taken.insert(type + "_MAX");
        taken.insert(type + "_MIN");
        for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        taken.insert(type + "_t");
      }
    }
  }
  return taken;
}

constexpr bool is_identifier_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_identifier_character(char c) { return is_identifier_letter(c) || (c >= '0' && c <= '9'); }

CROCHET_INLINE std::string header_identifier(std::string_view name, std::set<std::string>& used) {
  std::string text = name.empty() || !is_identifier_letter(name[0]) ? "x" : "";
  for (const char c : name) text += is_identifier_character(c) ? c : '_';
  while (text.back() == '_') text.pop_back();
  std::string unique = text;
  for (int n = 2; !used.insert(unique).second; ++n) unique = text + "_" + std::to_string(n);
  return unique;
}

CROCHET_INLINE void require_struct_name(const std::string& name, const std::vector<std::string>& parameters) {
  bool good = !name.empty() && (name[0] < '0' || name[0] > '9');
  for (const char c : name) good = good && (is_identifier_character(c) || c == '_');
  if (!good) {
    throw LogicError("crochet: \"" + name +
                     "\" cannot be the name of an exported struct; give a name of letters, digits and _");
  }
  const bool is_size = std::any_of(parameters.begin(), parameters.end(),
                                   [&](const std::string& parameter) { return name == parameter + "_size"; });
  if (is_size || name.back() == '_' || taken_identifiers().count(name) > 0) {
    throw LogicError("crochet: \"" + name +
                     "\" cannot be the name of an exported struct: it is a keyword, a macro, a standard type or a "
                     "member of the struct; give another name, without _ at the end");
  }
}

CROCHET_INLINE std::string comment_text(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (!is_identifier_character(c) && std::string_view("_./ -").find(c) == std::string_view::npos) c = '_';
  }
  return text;
}

}  // namespace crochet::detail
