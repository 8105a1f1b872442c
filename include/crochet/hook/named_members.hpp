// SPDX-License-Identifier: Apache-2.0
// Which names of phases a hook has, and which names that are almost those.
#pragma once

#include <string_view>
#include <type_traits>

#include <crochet/hook/near_miss.hpp>

namespace crochet::detail {

/// A hook combined with a decoy for every phase and every near miss. Naming a member that the hook also has is
/// ambiguous in this class.
template <class H>
struct NameDetector : H, Decoy {};

/// False for a final class and a union: they cannot be base classes, so their members cannot be found by name.
template <class H>
concept Inheritable = std::is_class_v<H> && !std::is_final_v<H>;
template <class H>
inline constexpr bool is_closed = (std::is_class_v<H> || std::is_union_v<H>)&&!Inheritable<H>;

template <class H, class P>
inline constexpr bool mentions = false;
template <Inheritable H, class P>
inline constexpr bool mentions<H, P> = !P::template unmentioned<NameDetector<H>>;

/// The name of a member that is spelt almost like phase P; empty if there is none.
template <class H, class P>
inline constexpr std::string_view misspelt{};
template <Inheritable H, class P>
inline constexpr std::string_view misspelt<H, P> = near_miss<H, NameDetector<H>, P>();

}  // namespace crochet::detail
