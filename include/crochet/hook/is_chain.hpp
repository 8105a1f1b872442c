// SPDX-License-Identifier: Apache-2.0
// Whether a type is a HookChain, for headers that a chain includes.
#pragma once

namespace crochet {

template <class... H>
class HookChain;

namespace detail {

template <class T>
inline constexpr bool is_chain = false;
template <class... H>
inline constexpr bool is_chain<HookChain<H...>> = true;

}  // namespace detail

}  // namespace crochet
