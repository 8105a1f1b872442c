// SPDX-License-Identifier: Apache-2.0
// The result of `run`: the values that the caller fetched, by position (structured bindings) or by name.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/unusable.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>

namespace crochet {

template <class NameList, class... T>
class Fetched;

namespace detail {

template <class E, class N>
constexpr auto fetched_type() {
  if constexpr (can_fetch<E, N>) {
    return std::type_identity<typename E::template fetched_t<N>>{};
  } else {
    return std::type_identity<Unusable>{};
  }
}
template <class E, class N>
using fetched_t = typename decltype(fetched_type<E, N>())::type;

template <std::size_t I, class N, class T>
struct FetchedSlot {
  T value;
};
template <std::size_t I, class N, class T>
constexpr T&& take_slot(FetchedSlot<I, N, T>& slot) {
  return static_cast<T&&>(slot.value);
}
template <std::size_t I, class N, class T>
constexpr const T& slot_at(const FetchedSlot<I, N, T>& slot) {
  return slot.value;
}
template <class N, std::size_t I, class T>
constexpr const T& slot_named(const FetchedSlot<I, N, T>& slot) {
  return slot.value;
}

template <class N, std::size_t I, class T>
constexpr T take_named(FetchedSlot<I, N, T>& slot) {
  return static_cast<T&&>(slot.value);
}

template <class Indices, class NameList, class... T>
struct FetchedSlots;
template <std::size_t... I, class... N, class... T>
struct FetchedSlots<std::index_sequence<I...>, Names<N...>, T...> : FetchedSlot<I, N, T>... {};

}  // namespace detail

/// Values in the order of their names: `auto [loss, accuracy] = session.run(fetches<"loss", "accuracy">)` or
/// `session.run(fetches<"loss">)["loss"_n]`. Views among them are valid until the next run of the same session.
template <class... N, class... T>
class Fetched<Names<N...>, T...> : private detail::FetchedSlots<std::index_sequence_for<T...>, Names<N...>, T...> {
  using Base = detail::FetchedSlots<std::index_sequence_for<T...>, Names<N...>, T...>;

 public:
  constexpr explicit Fetched(T... value) requires(sizeof...(T) > 0) : Base{{std::move(value)}...} {}
  constexpr Fetched() = default;

  /// For structured bindings.
  template <std::size_t I>
  [[nodiscard]] constexpr auto&& get() && {
    return detail::take_slot<I>(static_cast<Base&>(*this));
  }
  /// For `const auto [loss] = ...` and `const auto& [loss] = ...`.
  template <std::size_t I>
  [[nodiscard]] constexpr auto& get() const& {
    return detail::slot_at<I>(static_cast<const Base&>(*this));
  }

  /// The value of one of the names that this run fetched. Of a temporary result it is a copy (of a view: the view), so
  /// that `for (float p : predict(...)["price"_n])` reads no object that is gone.
  template <class Wanted>
  requires(std::is_same_v<Wanted, N> || ...) [[nodiscard]] constexpr decltype(auto) operator[](Wanted) && {
    return detail::take_named<Wanted>(static_cast<Base&>(*this));
  }
  template <class Wanted>
  [[nodiscard]] constexpr decltype(auto) operator[](Wanted) const& {
    if constexpr (!detail::AnyName<Wanted>) {
      static_assert(call_is_usable<detail::name_reason<Wanted>>, "crochet: crochet::error says why");
      return detail::Unusable{};
    } else if constexpr ((std::is_same_v<Wanted, N> || ...)) {
      return detail::slot_named<Wanted>(static_cast<const Base&>(*this));
    } else {
      using Reason = error::reads_a_value_that_it_does_not_list<error::the_caller, detail::spelt<Wanted>>;
      static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
      return detail::Unusable{};
    }
  }
};

namespace detail {

/// Stands in for the values of a request that is already the reason of an error.
template <class E, class... F>
constexpr auto fetch_none(Fetches<F...>) {
  return Fetched<Names<F...>, fetched_t<E, F>...>{static_cast<fetched_t<E, F>>(Unusable{})...};
}

}  // namespace detail

}  // namespace crochet

template <class NameList, class... T>
struct std::tuple_size<crochet::Fetched<NameList, T...>> : std::integral_constant<std::size_t, sizeof...(T)> {};
template <std::size_t I, class NameList, class... T>
struct std::tuple_element<I, crochet::Fetched<NameList, T...>> {
  using type = std::remove_reference_t<decltype(std::declval<crochet::Fetched<NameList, T...>>().template get<I>())>;
};
