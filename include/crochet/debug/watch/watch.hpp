// SPDX-License-Identifier: Apache-2.0
// Watch: which nodes a debug hook looks at, as a type. What is not watched is not even made a value: it stays fused.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/debug/watch/regex.hpp>

namespace crochet::error {

/// Cause: the pattern of a Watch cannot be read; RegexError (debug/watch/regex_program.hpp) says why, the number where.
/// Cure: correct the pattern. What can be in one: debug/watch/regex_program.hpp.
template <auto Why, std::size_t At>
struct the_pattern_is_malformed;

}  // namespace crochet::error

namespace crochet::debug {

/// The one error of a bad Watch.
template <class Pattern, class Reason>
struct watch_is_usable {
  static_assert(std::is_same_v<Reason, error::none>,
                "crochet: this Watch cannot be used; the crochet::error type in this message says why.");
};

namespace detail {

/// A pattern as a constant of the size that it needs. The empty pattern fits everything.
template <FixedString Pattern>
struct ConstantRegex {
  static constexpr std::size_t enough = 200 + 4 * Pattern.view().size();
  static constexpr std::size_t size = BasicRegex<enough>{Pattern.view()}.size();
  static constexpr BasicRegex<size + 1> regex{Pattern.view()};

  static constexpr auto reason() {
    if constexpr (regex.error() == RegexError::none) {
      return std::type_identity<error::none>{};
    } else {
      return std::type_identity<error::the_pattern_is_malformed<regex.error(), regex.error_at()>>{};
    }
  }
  using Check = watch_is_usable<crochet::detail::spelt<Name<Pattern>>, typename decltype(reason())::type>;
};

}  // namespace detail

/// The nodes of a run that fit all three patterns: `Watch<"dense.*">`, `Watch<"", "MatMul|Relu">`,
/// `Watch<".*", "", "float32">`.
///   Node   -  names, as TensorBoard draws them (`hidden/kernel`)
///   Op     -  operations (`MatMul`, `VariableV2`)
///   DType  -  element types (`float32`, `bool`)
/// A pattern fits the beginning (Python's `re.match`): "Mat" fits MatMul, "Mul" does not, "Mat$" does not. An empty one
/// fits everything. A malformed one does not compile, and neither does a session whose model has no node that fits all.
/// Cost: none while the program runs.
template <FixedString Node, FixedString Op = "", FixedString DType = "">
struct Watch {
  static_assert(sizeof(typename detail::ConstantRegex<Node>::Check) > 0);
  static_assert(sizeof(typename detail::ConstantRegex<Op>::Check) > 0);
  static_assert(sizeof(typename detail::ConstantRegex<DType>::Check) > 0);

  static constexpr std::string_view node_pattern = Node.view();
  /// What a compile error calls these watches: the first pattern that says something.
  using pattern = std::conditional_t<!Node.view().empty(), Name<Node>,
                                     std::conditional_t<!Op.view().empty(), Name<Op>, Name<DType>>>;

  static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype) {
    return detail::ConstantRegex<DType>::regex.match(dtype) && detail::ConstantRegex<Op>::regex.match(op) &&
           detail::ConstantRegex<Node>::regex.match(node);
  }
};

/// Chooses nodes in the compiler.
template <class T>
concept NodeWatch = requires(std::string_view text) {
  { T::matches(text, text, text) } -> std::convertible_to<bool>;
};

/// Every node of a run.
struct WatchAll {
  static constexpr bool matches(std::string_view /*node*/, std::string_view /*op*/, std::string_view /*dtype*/) {
    return true;
  }
};

}  // namespace crochet::debug
