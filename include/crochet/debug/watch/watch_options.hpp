// SPDX-License-Identifier: Apache-2.0
// WatchOptions: the watched tensors and their debug operations, selected at run time.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace crochet::debug {

/// The result of a `watch_fn`.
/// - debug_ops: operations, in the text form of debug_op.hpp; empty: DebugIdentity.
/// - node_name_regex_allowlist, op_type_regex_allowlist, tensor_dtype_regex_allowlist: patterns (regex_program.hpp) for
///   the node's name, operation and element type. All three have to match, at the beginning as by Python's `re.match`;
///   an empty pattern matches everything.
/// - tolerate_debug_op_creation_failures: true: an operation that does not support a tensor's element type
///   (DebugNanCount of bool) is omitted and reported; false: the run throws LogicError.
/// The order and names of the members are those of TensorFlow 2.x (1.x has `whitelist` for `allowlist`).
struct WatchOptions {
  std::vector<std::string> debug_ops{};
  std::string node_name_regex_allowlist{};
  std::string op_type_regex_allowlist{};
  std::string tensor_dtype_regex_allowlist{};
  bool tolerate_debug_op_creation_failures = false;

  bool operator==(const WatchOptions&) const = default;
};

namespace detail {

template <class T>
std::vector<std::string> ops_in(const T& ops) {
  if constexpr (std::same_as<T, std::nullopt_t> || std::same_as<T, std::nullptr_t>) {
    return {};
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return {std::string(std::string_view(ops))};
  } else {
    return {std::begin(ops), std::end(ops)};
  }
}
template <class T>
std::string pattern_in(const T& pattern) {
  if constexpr (std::same_as<T, std::nullopt_t> || std::same_as<T, std::nullptr_t>) {
    return {};
  } else {
    return std::string(std::string_view(pattern));
  }
}

}  // namespace detail

/// Converts the legacy form, a tuple of up to five values in the order of the members. Operations are one text or a
/// list of texts; `std::nullopt` and `nullptr` stand for Python's None.
inline WatchOptions watch_options(WatchOptions options) { return options; }
template <class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
WatchOptions watch_options(const Tuple& tuple) {
  constexpr std::size_t size = std::tuple_size_v<Tuple>;
  static_assert(size <= 5, "crochet: a watch_fn returns WatchOptions, or a tuple of at most its five members");
  WatchOptions options;
  if constexpr (size > 0) options.debug_ops = detail::ops_in(std::get<0>(tuple));
  if constexpr (size > 1) options.node_name_regex_allowlist = detail::pattern_in(std::get<1>(tuple));
  if constexpr (size > 2) options.op_type_regex_allowlist = detail::pattern_in(std::get<2>(tuple));
  if constexpr (size > 3) options.tensor_dtype_regex_allowlist = detail::pattern_in(std::get<3>(tuple));
  if constexpr (size > 4) options.tolerate_debug_op_creation_failures = std::get<4>(tuple);
  return options;
}

}  // namespace crochet::debug
