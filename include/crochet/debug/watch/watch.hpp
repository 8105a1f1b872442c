// SPDX-License-Identifier: Apache-2.0
// Watch: the nodes that a debug hook watches, as a type. An unwatched node is not stored in memory: it stays fused.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/debug/watch/regex.hpp>

namespace crochet::error {

/// Cause: the pattern of a Watch is malformed; RegexError (debug/watch/regex_error.hpp) is the reason, the number the
/// position in the pattern.
/// Fix: correct the pattern. The supported syntax: debug/watch/regex_program.hpp.
template <auto Why, std::size_t At>
struct the_pattern_is_malformed;

}  // namespace crochet::error

namespace crochet::debug {

/// The single error of an invalid Watch.
template <class Pattern, class Reason>
struct watch_is_usable {
  static_assert(std::is_same_v<Reason, error::none>,
                "crochet: this Watch cannot be used; the crochet::error type in this message says why.");
};

namespace detail {

/// A pattern as a constant of minimal size. The empty pattern matches everything.
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

/// Watches the nodes of a run that match all three patterns: `Watch<"dense.*">`, `Watch<"", "MatMul|Relu">`,
/// `Watch<".*", "", "float32">`.
///   Node   -  names, as TensorBoard draws them (`hidden/kernel`)
///   Op     -  operations (`MatMul`, `VariableV2`)
///   DType  -  element types (`float32`, `bool`)
/// - A pattern matches at the beginning (Python's `re.match`): "Mat" matches MatMul, "Mul" and "Mat$" do not. An empty
///   pattern matches everything.
/// - A malformed pattern does not compile. A session whose model has no matching node does not compile.
/// - Cost at run time: none.
template <FixedString Node, FixedString Op = "", FixedString DType = "">
struct Watch {
  static_assert(sizeof(typename detail::ConstantRegex<Node>::Check) > 0);
  static_assert(sizeof(typename detail::ConstantRegex<Op>::Check) > 0);
  static_assert(sizeof(typename detail::ConstantRegex<DType>::Check) > 0);

  static constexpr std::string_view node_pattern = Node.view();
  /// The name of these watches in compile errors: the first pattern that is not empty.
  using pattern = std::conditional_t<!Node.view().empty(), Name<Node>,
                                     std::conditional_t<!Op.view().empty(), Name<Op>, Name<DType>>>;

  static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype) {
    return detail::ConstantRegex<DType>::regex.match(dtype) && detail::ConstantRegex<Op>::regex.match(op) &&
           detail::ConstantRegex<Node>::regex.match(node);
  }
};

/// A type that selects nodes at compile time.
template <class T>
concept NodeWatch = requires(std::string_view text) {
  { T::matches(text, text, text) } -> std::convertible_to<bool>;
};

/// Watches every node of a run.
struct WatchAll {
  static constexpr bool matches(std::string_view /*node*/, std::string_view /*op*/, std::string_view /*dtype*/) {
    return true;
  }
};

}  // namespace crochet::debug
