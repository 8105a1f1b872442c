// SPDX-License-Identifier: Apache-2.0
// The conditions of the static_asserts that report a reason.
#pragma once

#include <cstddef>
#include <type_traits>

#include <crochet/base/error/hook_form.hpp>
#include <crochet/base/error/words.hpp>

namespace crochet {

namespace detail {
/// Whether the compiler reports this reason at another line, so that no further error is needed.
template <class Reason>
inline constexpr bool is_reported_elsewhere = false;
template <class Hook>
inline constexpr bool is_reported_elsewhere<error::has_a_before_run_that_does_not_compile<Hook>> = true;
template <std::size_t Position, class Reason>
inline constexpr bool usable_hook = std::is_same_v<Reason, error::none> || is_reported_elsewhere<Reason>;
}  // namespace detail

/// The one error of an unusable hook. Position and reason are template arguments, so that every compiler prints them.
template <std::size_t Position, class Reason>
struct hook_is_usable {
  static_assert(detail::usable_hook<Position, Reason>,
                "crochet: this hook cannot be used; the crochet::error type in this message says why.");
};

/// The condition of the static_assert for a hook that reads a value it does not list, at the line that reads it.
template <std::size_t Position, class Reason>
inline constexpr bool hook_reads_what_it_lists = std::is_same_v<Reason, error::none>;

/// The condition of the static_assert for an invalid call of `run`. Each call has its own static_assert instead of a
/// class template, so that compilers print the reason once.
template <class Reason>
inline constexpr bool call_is_usable = std::is_same_v<Reason, error::none>;

/// The same for a type that is not a model. An error inside `define` is reported at its own line instead.
template <class Reason>
inline constexpr bool model_is_usable = std::is_same_v<Reason, error::none>;

}  // namespace crochet
