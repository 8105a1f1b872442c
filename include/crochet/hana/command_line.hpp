// SPDX-License-Identifier: Apache-2.0
// Listed members as command-line options. The program links CLI11.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#if !__has_include(<CLI/CLI.hpp>)
#include "crochet: CLI11 is not found: link the CMake target CLI11::CLI11"
#endif

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include <CLI/CLI.hpp>

#include <crochet/hana/members.hpp>

namespace crochet {

namespace detail {

/// "plateau" and "min_delta" become "plateau.min-delta".
inline std::string option_name(const std::string& section, std::string_view member) {
  std::string name = (section.empty() ? "" : section + '.') + std::string(member);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

template <class Member>
CLI::Option* add_option(CLI::App& app, const std::string& name, Member& member) {
  if constexpr (std::is_same_v<Member, bool>) {
    const std::size_t last = name.rfind('.') + 1;  // 0 if there is no dot
    return app.add_flag("--" + name + ",!--" + name.substr(0, last) + "no-" + name.substr(last), member,
                        member ? "default: true" : "default: false");
  } else {
    CLI::Option* const option = app.add_option("--" + name, member)->capture_default_str();
    if constexpr ((std::is_enum_v<Member> || std::is_integral_v<Member>)&&sizeof(Member) == 1 &&
                  !std::is_same_v<Member, char>)
      option->default_str(std::to_string(static_cast<int>(member)));  // not a character
    return option;
  }
}

}  // namespace detail

/// Adds an option for each listed member: `--min-delta` for `min_delta`. Its value is the default in the help.
/// - A bool is a flag: `--verbose` and `--no-verbose`.
/// - With a section the names are `--section.min-delta`, grouped under that heading in the help. A member with listed
///   members is a nested section.
/// - The object must outlive the parsing of `app`.
/// - Throws: CLI::ConstructionError here, CLI::ParseError when parsing.
template <ListsMembers Object>
void add_options(CLI::App& app, Object& object, const std::string& section = "") {
  for_each_member(object, [&]<class Member>(std::string_view member_name, Member& member) {
    const std::string name = detail::option_name(section, member_name);
    if constexpr (ListsMembers<Member>) {
      add_options(app, member, name);
    } else {
      CLI::Option* const option = detail::add_option(app, name, member);
      if (!section.empty()) option->group(detail::option_name("", section));
    }
  });
}

}  // namespace crochet
