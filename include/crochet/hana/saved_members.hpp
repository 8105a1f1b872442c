// SPDX-License-Identifier: Apache-2.0
// The state of a hook from the list of its members: save_state and load_state are not written by hand.
#pragma once

#include <crochet/hana/members.hpp>

namespace crochet {

/// Puts each listed member under its name. A member that itself lists members is a section of that name.
/// `out`: a StateWriter, or what has its `put` and `section`; throws what those throw.
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

/// Reads what save_members wrote. A member that is missing in what was saved, or was saved as another type, keeps its
/// value.
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

/// The one error of a hook whose members are to be saved and are not listed.
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

/// In a hook's class: its listed members are its state. `CROCHET_SAVED_MEMBERS;` there and, behind the class,
/// `BOOST_HANA_ADAPT_STRUCT(Hook, best, since);` are the hook's save_state and load_state. List what the hook has
/// learnt and not its options: a resumed run has those of the program. (Members and no base class: with a base, g++
/// warns of each `Hook{.patience = 5}`.)
#define CROCHET_SAVED_MEMBERS                                                      \
  void save_state(auto& out) const { ::crochet::detail::save_listed(out, *this); } \
  void load_state(auto& in) { ::crochet::detail::load_listed(in, *this); }         \
  static_assert(true)
