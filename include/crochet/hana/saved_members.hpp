// SPDX-License-Identifier: Apache-2.0
// save_state and load_state of a hook, generated from the list of its members.
#pragma once

#include <crochet/hana/members.hpp>

namespace crochet {

/// Writes each listed member under its name. A member with listed members becomes a section of that name. `out`: a
/// StateWriter, or another class with its `put` and `section`. Throws what those throw.
template <ListsMembers Object>
void save_members(auto& out, const Object& object) {
  for_each_member(object, [&]<class Member>(std::string_view name, const Member& member) {
    if constexpr (ListsMembers<Member>) {
      out.section(name, [&] { save_members(out, member); });
    } else {
      out.put(name, member);
    }
  });
}

/// Reads what save_members wrote. A member that was not saved, or was saved with another type, keeps its value.
template <ListsMembers Object>
void load_members(auto& in, Object& object) {
  for_each_member(object, [&]<class Member>(std::string_view name, Member& member) {
    if constexpr (ListsMembers<Member>) {
      in.section(name, [&] { load_members(in, member); });
    } else {
      in.get(name, member);
    }
  });
}

/// The error of a hook whose members are to be saved but are not listed.
template <class Hook>
struct saved_members_are_listed {
  static constexpr bool lists_members = ListsMembers<Hook>;
  static_assert(
      lists_members,
      "crochet: this hook has CROCHET_SAVED_MEMBERS and lists no members: BOOST_HANA_ADAPT_STRUCT(Hook, ...);");
};

namespace detail {

template <class Hook>
void save_listed(auto& out, const Hook& hook) {
  [[maybe_unused]] saved_members_are_listed<Hook> checked;
  if constexpr (ListsMembers<Hook>) save_members(out, hook);
}
template <class Hook>
void load_listed(auto& in, Hook& hook) {
  if constexpr (ListsMembers<Hook>) load_members(in, hook);
}

}  // namespace detail
}  // namespace crochet

/// Makes the listed members of a hook its state: generates save_state and load_state. Put `CROCHET_SAVED_MEMBERS;` in
/// the class and `BOOST_HANA_ADAPT_STRUCT(Hook, best, since);` after it. List what the hook learns, not its options: a
/// resumed run uses the options of the program. (A macro that defines members, not a base class: with a base class, g++
/// warns at each `Hook{.patience = 5}`.)
#define CROCHET_SAVED_MEMBERS                                                      \
  void save_state(auto& out) const { ::crochet::detail::save_listed(out, *this); } \
  void load_state(auto& in) { ::crochet::detail::load_listed(in, *this); }         \
  static_assert(true)
