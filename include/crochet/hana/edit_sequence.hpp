// SPDX-License-Identifier: Apache-2.0
// Edits of a Hana sequence at a named hook: of chains (hana/edit.hpp) and of the types of their hooks
// (hana/edit_types.hpp). Internal.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/bool.hpp>
#include <boost/hana/insert.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/less.hpp>
#include <boost/hana/remove_at.hpp>
#include <boost/hana/sort.hpp>
#include <boost/hana/type.hpp>

#include <crochet/hana/predicates.hpp>

namespace crochet::detail {

/// Reports that the sequence does not have the named hook exactly once. The sequence is returned unchanged, so that
/// there is one error only.
template <class Named, class Sequence>
constexpr std::remove_cvref_t<Sequence> unedited(Sequence&& sequence) {
  [[maybe_unused]] typename Named::Check checked;
  return std::forward<Sequence>(sequence);
}

/// The sequence with `added` inserted at the named hook, or `Behind` elements after it.
template <class Named, std::size_t Behind, class Sequence, class Added>
constexpr auto inserted(Sequence&& sequence, Added&& added) {
  if constexpr (!Named::is_unique) {
    return unedited<Named>(std::forward<Sequence>(sequence));
  } else {
    constexpr auto place = boost::hana::size_c<Named::position + Behind>;
    return boost::hana::insert(std::forward<Sequence>(sequence), place, std::forward<Added>(added));
  }
}

/// The sequence without the named element.
template <class Named, class Sequence>
constexpr auto removed(Sequence&& sequence) {
  if constexpr (!Named::is_unique) {
    return unedited<Named>(std::forward<Sequence>(sequence));
  } else {
    return boost::hana::remove_at(std::forward<Sequence>(sequence), boost::hana::size_c<Named::position>);
  }
}

/// The sequence with the named element replaced by `added`.
template <class Named, class Sequence, class Added>
constexpr auto replaced(Sequence&& sequence, Added&& added) {
  if constexpr (!Named::is_unique) {
    return unedited<Named>(std::forward<Sequence>(sequence));
  } else {
    return inserted<Named, 0>(removed<Named>(std::forward<Sequence>(sequence)), std::forward<Added>(added));
  }
}

/// The order of two hooks, or of two types of hooks, by `key(hana::type_c<H>)`.
template <auto key>
inline constexpr auto less_by = [](const auto& a, const auto& b) {
  return boost::hana::bool_c<bool(key(boost::hana::type_c<hook_of<decltype(a)>>) <
                                  key(boost::hana::type_c<hook_of<decltype(b)>>))>;
};

}  // namespace crochet::detail
