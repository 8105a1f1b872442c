// SPDX-License-Identifier: Apache-2.0
// The request for one run: values to fetch, targets to run, values to feed. Requests of callers and of hooks have the
// same type, RunArgs. The names are part of the type, so a request without feeds is an empty object.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>

namespace crochet {

/// Names whose values are requested. Spelt `fetches<"loss", "accuracy">`.
template <class... N>
struct Fetches {};
/// Names to run without returning a value. Spelt `targets<"train">`.
template <class... N>
struct Targets {};

template <FixedString... Text>
inline constexpr Fetches<Name<Text>...> fetches{};
template <FixedString... Text>
inline constexpr Targets<Name<Text>...> targets{};

/// First argument of `session.run` for a run without hooks.
struct NoHooks {};
inline constexpr NoHooks no_hooks{};

/// A value for the placeholder `N`. `X` is a scalar, a std::span or TensorView, or a moved container.
template <class N, class X>
struct Feed {
  using name = N;
  using type = X;

  X value;
};

/// Several feeds with distinct names.
template <class... F>
struct Feeds;

namespace detail {

template <class X>
concept ContiguousRange = requires(const X& x) {
  std::span{std::data(x), std::size(x)};
};

/// How a feed holds an X: scalars and views by value, an lvalue container as a span, an rvalue container moved.
template <class X>
constexpr auto held(X&& x) {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (ContiguousRange<Plain> && !is_tensor_view<Plain> && std::is_lvalue_reference_v<X>) {
    return std::span<std::add_const_t<std::remove_reference_t<decltype(*std::data(x))>>>{std::data(x), std::size(x)};
  } else {
    return Plain(std::forward<X>(x));
  }
}

template <std::size_t I, class F>
struct FeedSlot {
  CROCHET_NO_UNIQUE_ADDRESS F feed;
};

template <class N, std::size_t I, class X>
constexpr FeedSlot<I, Feed<N, X>>& feed_slot(FeedSlot<I, Feed<N, X>>& slot) {
  return slot;
}
template <class N, std::size_t I, class X>
constexpr const FeedSlot<I, Feed<N, X>>& feed_slot(const FeedSlot<I, Feed<N, X>>& slot) {
  return slot;
}

template <class Indices, class... F>
struct FeedSlots;
template <std::size_t... I, class... F>
struct FeedSlots<std::index_sequence<I...>, F...> : FeedSlot<I, F>... {};

}  // namespace detail

/// A feed of `N`: `feed<"images">(batch)`. A container lvalue is held as a std::span, never copied; it must outlive the
/// call. A temporary container is moved in. Scalars, spans and TensorViews are held by value.
template <FixedString Text, class X>
constexpr auto feed(X&& x) {
  return Feed<Name<Text>, decltype(detail::held(std::forward<X>(x)))>{detail::held(std::forward<X>(x))};
}

template <class... F>
struct Feeds : detail::FeedSlots<std::index_sequence_for<F...>, F...> {
  using Base = detail::FeedSlots<std::index_sequence_for<F...>, F...>;

  constexpr Feeds() = default;
  constexpr explicit Feeds(F... feed) requires(sizeof...(F) > 0) : Base{{std::move(feed)}...} {}

  /// The feed of name N.
  template <class N>
  constexpr auto& get() {
    return detail::feed_slot<N>(static_cast<Base&>(*this)).feed;
  }
  template <class N>
  constexpr const auto& get() const {
    return detail::feed_slot<N>(static_cast<const Base&>(*this)).feed;
  }
};

/// Several feeds as one argument: `feeds(feed<"images">(x), feed<"labels">(y))`.
template <class... N, class... X>
constexpr Feeds<Feed<N, X>...> feeds(Feed<N, X>... feed) {
  return Feeds<Feed<N, X>...>{std::move(feed)...};
}

template <class F = Fetches<>, class T = Targets<>, class D = Feeds<>>
struct RunArgs;

namespace detail {

template <class... T>
struct List {};

/// The only type of a List of one; void for an empty list.
template <class Types>
struct SoleType {
  using type = void;
};
template <class T>
struct SoleType<List<T>> {
  using type = T;
};

/// Adds one argument of RunArgs{...} to the result of the earlier ones.
template <class Sum, class A>
struct AddArg;
template <class... F, class T, class D, class... More>
struct AddArg<List<Fetches<F...>, T, D>, Fetches<More...>> {
  using type = List<Fetches<F..., More...>, T, D>;
};
template <class F, class... T, class D, class... More>
struct AddArg<List<F, Targets<T...>, D>, Targets<More...>> {
  using type = List<F, Targets<T..., More...>, D>;
};
template <class F, class... T, class D, AnyName N>
struct AddArg<List<F, Targets<T...>, D>, N> {
  using type = List<F, Targets<T..., N>, D>;
};
template <class F, class T, class... D, class N, class X>
struct AddArg<List<F, T, Feeds<D...>>, Feed<N, X>> {
  using type = List<F, T, Feeds<D..., Feed<N, X>>>;
};
template <class F, class T, class... D, class... More>
struct AddArg<List<F, T, Feeds<D...>>, Feeds<More...>> {
  using type = List<F, T, Feeds<D..., More...>>;
};
template <class F, class T, class D, class F2, class T2, class D2>
struct AddArg<List<F, T, D>, RunArgs<F2, T2, D2>> {
  using type = typename AddArg<typename AddArg<typename AddArg<List<F, T, D>, F2>::type, T2>::type, D2>::type;
};

template <class Sum, class... A>
struct AddArgs {
  using type = Sum;
};
template <class Sum, class A, class... Rest>
struct AddArgs<Sum, A, Rest...> : AddArgs<typename AddArg<Sum, A>::type, Rest...> {};

template <class... A>
using merged_args = typename AddArgs<List<Fetches<>, Targets<>, Feeds<>>, std::remove_cvref_t<A>...>::type;

template <class Merged>
struct PartsOf;
template <class F, class T, class D>
struct PartsOf<List<F, T, D>> {
  using fetches = F;
  using targets = T;
  using feeds = D;
};
template <class... A>
struct Parts : PartsOf<merged_args<A...>> {};

template <class N, class A>
inline constexpr bool has_feed = false;
template <class N, class X>
inline constexpr bool has_feed<N, Feed<N, X>> = true;
template <class N, class... F>
inline constexpr bool has_feed<N, Feeds<F...>> = (has_feed<N, F> || ...);
template <class N, class F, class T, class D>
inline constexpr bool has_feed<N, RunArgs<F, T, D>> = has_feed<N, D>;

/// Moves the feed of N out of the argument that has it.
template <class N, class A, class... Rest>
constexpr auto take_feed(A& arg, Rest&... rest) {
  if constexpr (!has_feed<N, std::remove_const_t<A>>) {
    return take_feed<N>(rest...);
  } else if constexpr (requires { arg.value; }) {
    return std::move(arg);
  } else if constexpr (requires { arg.feeds; }) {
    return std::move(arg.feeds.template get<N>());
  } else {
    return std::move(arg.template get<N>());
  }
}

template <class T>
inline constexpr bool is_run_args = false;
template <class F, class T, class D>
inline constexpr bool is_run_args<RunArgs<F, T, D>> = true;
template <class T>
inline constexpr bool is_request_part = is_run_args<T> || AnyName<T>;
template <class... N>
inline constexpr bool is_request_part<Fetches<N...>> = true;
template <class... N>
inline constexpr bool is_request_part<Targets<N...>> = true;
template <class N, class X>
inline constexpr bool is_request_part<Feed<N, X>> = true;
template <class... F>
inline constexpr bool is_request_part<Feeds<F...>> = true;
template <class T>
inline constexpr bool is_optional_run_args = false;
template <class A>
inline constexpr bool is_optional_run_args<std::optional<A>> = is_run_args<A>;

}  // namespace detail

/// The parts of a request: fetches<...>, targets<...> (or one target as "train"_n), feed<...>(x), feeds(...), RunArgs.
template <class T>
concept RequestPart = detail::is_request_part<std::remove_cvref_t<T>>;

/// A request: names to fetch, names to run, values to feed, in any order: `RunArgs{fetches<"loss">, targets<"train">,
/// feed<"rate">(0.1f)}`. Cost: the feeds it holds, otherwise an empty object.
template <class... F, class... T, class... D>
struct RunArgs<Fetches<F...>, Targets<T...>, Feeds<D...>> {
  using fetches_type = Fetches<F...>;
  using targets_type = Targets<T...>;
  using feeds_type = Feeds<D...>;

  constexpr RunArgs() = default;
  template <RequestPart First, RequestPart... Rest>
  requires(sizeof...(Rest) > 0 ||
           !std::is_same_v<First, RunArgs>) constexpr explicit RunArgs([[maybe_unused]] First first,
                                                                       [[maybe_unused]] Rest... others)
      : feeds{detail::take_feed<typename D::name>(first, others...)...} {}

  CROCHET_NO_UNIQUE_ADDRESS Feeds<D...> feeds;
};
template <RequestPart First, RequestPart... Rest>
RunArgs(First, Rest...)
    -> RunArgs<typename detail::Parts<First, Rest...>::fetches, typename detail::Parts<First, Rest...>::targets,
               typename detail::Parts<First, Rest...>::feeds>;
RunArgs()->RunArgs<Fetches<>, Targets<>, Feeds<>>;

/// The return type of a before_run that fetches these names in some runs only. `return {};` fetches nothing in this
/// run; `return RunArgs{fetches<"loss">};` fetches them.
template <FixedString... Text>
using MaybeFetch = std::optional<RunArgs<Fetches<Name<Text>...>>>;

}  // namespace crochet
