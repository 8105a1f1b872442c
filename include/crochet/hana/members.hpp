// SPDX-License-Identifier: Apache-2.0
// The members of a class by name: those that BOOST_HANA_DEFINE_STRUCT or BOOST_HANA_ADAPT_STRUCT lists. What is made of
// them is in headers of their own: state, text, JSON, a command line.
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

/// A class whose members Boost.Hana lists.
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
