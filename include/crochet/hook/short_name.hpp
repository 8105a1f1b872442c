// SPDX-License-Identifier: Apache-2.0
// Short names of hooks for tables.
#pragma once

#include <cstddef>
#include <string>

namespace crochet::detail {

/// A type's name. If it is too long for a table, only the template's name.
inline std::string short_name(std::string name) {
  constexpr std::size_t longest = 44;
  const std::size_t arguments = name.find('<');
  if (name.size() <= longest || arguments == std::string::npos) return name;
  return name.substr(0, arguments) + "<...>";
}

}  // namespace crochet::detail
