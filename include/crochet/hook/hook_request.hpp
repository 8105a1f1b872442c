// SPDX-License-Identifier: Apache-2.0
// The request of one hook for one run, in one form for all ways of declaring it. The chain and all decorators use the
// same `request(hook, run)`.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

/// A hook's request for one run. `Args` is a RunArgs. If `Conditional`, the hook decides at run time whether the
/// request is due.
template <class Args, bool Conditional>
class HookRequest {
 public:
  using args_type = Args;
  static constexpr bool conditional = false;

  constexpr HookRequest() = default;
  constexpr explicit HookRequest(Args args) : args_(std::move(args)) {}

  [[nodiscard]] static constexpr bool due() { return true; }
  [[nodiscard]] constexpr const Args& args() const { return args_; }
  /// The request in the form that a conditional before_run returns.
  [[nodiscard]] constexpr std::optional<Args> optional() && { return std::move(args_); }

 private:
  CROCHET_NO_UNIQUE_ADDRESS Args args_{};
};

template <class Args>
class HookRequest<Args, true> {
 public:
  using args_type = Args;
  static constexpr bool conditional = true;

  constexpr explicit HookRequest(std::optional<Args> args) : args_(std::move(args)) {}

  [[nodiscard]] constexpr bool due() const { return args_.has_value(); }
  /// Requires `due()`.
  [[nodiscard]] constexpr const Args& args() const { return *args_; }
  [[nodiscard]] constexpr std::optional<Args> optional() && { return std::move(args_); }

 private:
  std::optional<Args> args_;
};

namespace detail {

template <class T>
inline constexpr bool is_fetches = false;
template <class... N>
inline constexpr bool is_fetches<Fetches<N...>> = true;

template <class H>
concept DeclaresFetches = requires {
  H::fetches;
};

/// The type of a member `fetches` of any kind.
template <class H>
struct TypeOfFetches {
  using type = Fetches<>;
};
template <DeclaresFetches H>
struct TypeOfFetches<H> {
  using type = std::remove_cvref_t<decltype(H::fetches)>;
};
template <class H>
requires(!DeclaresFetches<H> && requires { &H::fetches; }) struct TypeOfFetches<H> {
  using type = decltype(&H::fetches);  // a member function
};

/// A member that is not a list of names fetches nothing. It is reported separately (hook/diagnose.hpp).
template <class T>
using fetches_or_none = std::conditional_t<is_fetches<T>, T, Fetches<>>;

}  // namespace detail

/// The `Fetches<...>` that the hook's static member `fetches` lists; `Fetches<>` when it has none.
template <class H>
using declared_fetches = detail::fetches_or_none<typename detail::TypeOfFetches<H>::type>;

/// Returns a hook's request for the next run. Calls its before_run if it has one. If it has none, or before_run returns
/// void, the request is its static `fetches`.
template <class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto request([[maybe_unused]] H& hook, [[maybe_unused]] Run&& run) {
  using Context = std::remove_reference_t<Run>;
  using Listed = RunArgs<declared_fetches<H>, Targets<>, Feeds<>>;
  if constexpr (!phase::before_run::handled<H, Context>) {
    return HookRequest<Listed, false>{};
  } else {
    using Returned = phase::before_run::returned<H, Context>;
    if constexpr (detail::is_optional_run_args<Returned>) {
      return HookRequest<typename Returned::value_type, true>{phase::before_run::call(hook, run)};
    } else if constexpr (detail::is_run_args<Returned>) {
      return HookRequest<Returned, false>{phase::before_run::call(hook, run)};
    } else {
      phase::before_run::call(hook, run);
      return HookRequest<Listed, false>{};
    }
  }
}

/// The type of RunArgs in the result of `request(hook, run)`, for decorators that must name it:
/// `std::optional<requested_args<H, Run>>`.
template <class H, class Run>
using requested_args =
    typename decltype(request(std::declval<H&>(), std::declval<std::remove_reference_t<Run>&>()))::args_type;

}  // namespace crochet
