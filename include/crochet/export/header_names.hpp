// SPDX-License-Identifier: Apache-2.0
// Names in an exported header: identifiers that a compiler takes, and text of comments.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crochet::detail {

/// The names that a parameter or a struct cannot have: keywords up to C++20, macros and types of <cstddef>, <cstdint>
/// and compilers, and members of every exported struct.
std::set<std::string> taken_identifiers();
/// An identifier like `name` that is not in `used`, to which it is added. It begins with a letter and does not end in
/// '_', as the header's own identifiers do.
std::string header_identifier(std::string_view name, std::set<std::string>& used);
/// Throws LogicError unless a struct whose predict() has these parameters can have the name.
void require_struct_name(const std::string& name, const std::vector<std::string>& parameters);
/// `name` with '_' for each character outside [A-Za-z0-9_./ -]: nothing that ends or continues a comment.
std::string comment_text(std::string_view name);

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/header_names.ipp>
#endif
