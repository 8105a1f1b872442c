// SPDX-License-Identifier: Apache-2.0
// The member types with a JSON form, and the error for the others. Internal to hana/json.hpp.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/hana/accessors.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>

#include <crochet/hana/members.hpp>

namespace crochet {

namespace detail {

template <class T>
concept JsonText = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept JsonScalar = JsonText<T> || std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept JsonElements = !JsonText<T> && requires(const T& list) {
  list.data();
  list.size();
};
template <class T>
concept JsonList = JsonElements<T> || std::is_same_v<T, std::vector<bool>>;
template <class T>
concept JsonOptional = requires(T& value) {
  value.has_value();
  value.reset();
  typename T::value_type;
};

template <class T>
constexpr auto without_json_form();

/// The first of the types without a JSON form, as std::type_identity; void if there is none.
template <class... T>
struct FirstWithoutJsonForm {
  using type = void;
};
template <class T, class... Rest>
struct FirstWithoutJsonForm<T, Rest...> {
  using own = typename decltype(without_json_form<T>())::type;
  using type =
      typename std::conditional_t<std::is_void_v<own>, FirstWithoutJsonForm<Rest...>, std::type_identity<own>>::type;
};

template <class T>
constexpr auto without_json_form() {
  if constexpr (ListsMembers<T>) {
    return boost::hana::unpack(boost::hana::accessors<T>(), []<class... Accessor>(const Accessor&... accessor) {
      return FirstWithoutJsonForm<
          std::remove_cvref_t<decltype(boost::hana::second(accessor)(std::declval<T&>()))>...>{};
    });
  } else if constexpr (JsonOptional<T>) {
    return without_json_form<typename T::value_type>();
  } else if constexpr (JsonList<T>) {
    return without_json_form<std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>>();
  } else {
    return std::type_identity<std::conditional_t<JsonScalar<T>, void, T>>{};
  }
}

}  // namespace detail

/// The error of a member, or an element of one, without a JSON form.
template <class Member>
struct member_has_a_form_in_json {
  static_assert(
      std::is_void_v<Member>,
      "crochet: JSON holds numbers, bools, enums, texts, lists and optionals of these, and classes that list theirs.");
};
/// Checks all members of an object type.
template <class Object>
using members_have_forms_in_json =
    member_has_a_form_in_json<typename decltype(detail::without_json_form<Object>())::type>;

}  // namespace crochet
