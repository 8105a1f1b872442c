// SPDX-License-Identifier: Apache-2.0
// Readable names of types: for stop reasons, messages, descriptions and keys of state. Not used in a step that
// succeeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/name.hpp>
#include <crochet/hook/compiler_spelling.hpp>

namespace crochet::detail {

/// The name of a type. Primary template: as the compiler spells it, without default arguments. Compilers differ where a
/// string is among the arguments: clang omits what follows its tenth character. The specializations spell templates of
/// strings, and of types that are such templates, from all of their arguments. `from_arguments` is true in them.
template <class T>
struct TypeName {
  static constexpr bool from_arguments = false;
  template <class Out>
  static constexpr void write(Out& out) {
    write_readable(out, compiler_type_name<T>());
  }
};

/// A string as a template argument.
struct TextArgument {
  template <class Out>
  constexpr void write(Out& out) const {
    out += '"';
    out += text;
    out += '"';
  }

  std::string_view text;
};

/// A whole number as a template argument.
struct NumberArgument {
  template <class Out>
  constexpr void write(Out& out) const {
    if (number < 0) out += '-';
    write_digits(out, number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number));
  }
  template <class Out>
  static constexpr void write_digits(Out& out, std::uint64_t rest) {
    if (rest > 9) write_digits(out, rest / 10);
    out += static_cast<char>('0' + rest % 10);
  }

  std::int64_t number;
};

template <class Out, class... Argument>
constexpr void write_arguments(Out& out, const Argument&... argument) {
  std::string_view separator = "<";
  ((out += separator, argument.write(out), separator = ", "), ...);
  out += '>';
}
/// Appends the name of `T`, an instance of a template, with these arguments.
template <class T, class Out, class... Argument>
constexpr void write_instance(Out& out, const Argument&... argument) {
  constexpr std::string_view text = compiler_type_name<T>();
  if (!is_instance(text)) return write_readable(out, text);
  write_readable(out, text.substr(0, text.find('<')));
  write_arguments(out, argument...);
}

/// Base of the TypeName of an instance that programs name by an alias template of strings.
template <FixedString Alias, FixedString... Text>
struct AliasName {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    out += Alias.view();
    write_arguments(out, TextArgument{Text.view()}...);
  }
};

template <template <FixedString...> class Template, FixedString... Text>
requires(sizeof...(Text) > 0) struct TypeName<Template<Text...>> {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    write_instance<Template<Text...>>(out, TextArgument{Text.view()}...);
  }
};
template <template <class, FixedString...> class Template, class First, FixedString... Text>
requires(sizeof...(Text) > 0) struct TypeName<Template<First, Text...>> {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    write_instance<Template<First, Text...>>(out, TypeName<First>{}, TextArgument{Text.view()}...);
  }
};
template <template <FixedString, class...> class Template, FixedString Text, class... Types>
requires(sizeof...(Types) > 0) struct TypeName<Template<Text, Types...>> {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    write_instance<Template<Text, Types...>>(out, TextArgument{Text.view()}, TypeName<Types>{}...);
  }
};
template <template <std::int64_t, class> class Template, std::int64_t Number, class Type>
requires(TypeName<Type>::from_arguments) struct TypeName<Template<Number, Type>> {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    write_instance<Template<Number, Type>>(out, NumberArgument{Number}, TypeName<Type>{});
  }
};
template <template <class...> class Template, class... Types>
requires(TypeName<Types>::from_arguments || ...) struct TypeName<Template<Types...>> {
  static constexpr bool from_arguments = true;
  template <class Out>
  static constexpr void write(Out& out) {
    write_instance<Template<Types...>>(out, TypeName<Types>{}...);
  }
};

/// A string of at most N characters for constant evaluation.
template <std::size_t N>
struct TextBuffer {
  constexpr void operator+=(char c) { letters[length++] = c; }
  constexpr void operator+=(std::string_view text) {
    for (const char c : text) *this += c;
  }
  constexpr void resize(std::size_t n) { length = n; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }
  [[nodiscard]] constexpr std::string_view view() const { return {letters, length}; }

  char letters[N] = {};
  std::size_t length = 0;
};

/// type_name<T>() as a constant.
template <class T>
inline constexpr auto readable_name = [] {
  constexpr std::size_t peak = [] {
    PeakLength length;
    TypeName<T>::write(length);
    return length.peak;
  }();
  TextBuffer<peak + 1> readable;
  TypeName<T>::write(readable);
  return readable;
}();

/// The name of `T` as in the source, `LoggingTensor<"loss">`. A template of strings has all its arguments, also the
/// default ones. Allocates.
template <class T>
std::string type_name() {
  std::string out;
  TypeName<T>::write(out);
  return out;
}

}  // namespace crochet::detail
