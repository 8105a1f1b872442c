// SPDX-License-Identifier: Apache-2.0
// The members of a class by name, as listed by BOOST_HANA_DEFINE_STRUCT or BOOST_HANA_ADAPT_STRUCT. Other headers of
// hana/ convert them: to state, text, JSON, command-line options.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>

namespace crochet {

/// A class with members listed for Boost.Hana.
template <class T>
concept ListsMembers = boost::hana::Struct<T>::value;

/// Calls `visit(name, member)` for each listed member of an object, in the order of the macro. The name is a
/// std::string_view of static storage; the member is const if the object is.
template <class Object, class Visit>
requires ListsMembers<std::remove_const_t<Object>>
constexpr void for_each_member(Object& object, Visit&& visit) {
  boost::hana::for_each(boost::hana::accessors<std::remove_const_t<Object>>(), [&](const auto& accessor) {
    visit(std::string_view(boost::hana::first(accessor).c_str()), boost::hana::second(accessor)(object));
  });
}

}  // namespace crochet
