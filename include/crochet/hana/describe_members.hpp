// SPDX-License-Identifier: Apache-2.0
// describe(options): the members of an object as a line of text.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/hana/members.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

template <ListsMembers Object>
std::string describe(const Object& object);

namespace detail {

/// A contiguous range of other elements than numbers: texts, enumerators, listed members.
template <class Member>
concept ListOfMembers = requires(const Member& list) {
  std::size(list);
  requires !Scalar<std::remove_cvref_t<decltype(*std::data(list))>>;
};
template <class Member>
void append_member(std::string& line, const Member& member) {
  if constexpr (ListsMembers<Member>) {
    line += '{' + describe(member) + '}';
  } else if constexpr (std::is_convertible_v<const Member&, std::string_view>) {
    (line += '"').append(std::string_view(member)) += '"';
  } else if constexpr (requires {
                         typename Member::value_type;
                         member.has_value();
                       }) {
    member.has_value() ? append_member(line, *member) : static_cast<void>(line += "none");
  } else if constexpr (std::is_enum_v<Member>) {
    append_value(line, static_cast<std::underlying_type_t<Member>>(member));
  } else if constexpr (std::is_same_v<Member, std::vector<bool>>) {
    append_list(line, member.size(), [&](std::size_t i) { append_value(line, bool{member[i]}); });
  } else if constexpr (ListOfMembers<Member>) {
    append_list(line, std::size(member), [&](std::size_t i) { append_member(line, std::data(member)[i]); });
  } else if constexpr (requires { append_value(line, member); }) {
    append_value(line, member);
  } else {
    line += "...";
  }
}

}  // namespace detail

/// The listed members by name and value: `patience 20, rule {rate 0.1, floor 0.0}, name "loss"`.
/// - A list of more than six elements as its first three and its length; an enumerator as its number; `none` for an
///   empty optional; `...` for a type without a text form.
/// - Cost: allocates.
template <ListsMembers Object>
std::string describe(const Object& object) {
  std::string line;
  for_each_member(object, [&](std::string_view name, const auto& member) {
    if (!line.empty()) line += ", ";
    line.append(name) += ' ';
    detail::append_member(line, member);
  });
  return line;
}

}  // namespace crochet
