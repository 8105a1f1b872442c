// SPDX-License-Identifier: Apache-2.0
// Keyed<"to_file", H>: saves the hook's state under a given key.
#pragma once

#include <string_view>

#include <crochet/base/name.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// The identity policy.
template <class H>
struct UnderKey : PassOn<UnderKey<H>> {};

/// H, with its state in checkpoints under the key `Key` in place of the name of its type. For two hooks of one type in
/// a chain, or for a hook whose type may change between checkpoints:
///   HookChain{LoggingTensor<"loss">{...}, Keyed<"to_file", LoggingTensor<"loss">>{{...}}}
/// Cost: none.
template <FixedString Key, class H>
struct Keyed : Decorated<H, UnderKey<H>> {
  static constexpr std::string_view state_key = Name<Key>::view();
  using Base = Decorated<H, UnderKey<H>>;
  using Base::Base;
};

}  // namespace crochet
