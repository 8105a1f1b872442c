// SPDX-License-Identifier: Apache-2.0
// Keyed<"to_file", H>: the hook's state is saved under a key of your own.
#pragma once

#include <string_view>

#include <crochet/base/name.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Changes nothing.
template <class H>
struct UnderKey : PassOn<UnderKey<H>> {};

/// H, whose state goes into checkpoints under the key `Key` and not under H's own, the name of its type. For two hooks
/// of one type in a chain, or for a hook whose type may change while its checkpoints live on:
///   HookChain{LoggingTensor<"loss">{...}, Keyed<"to_file", LoggingTensor<"loss">>{{...}}}
/// Cost: none.
template <FixedString Key, class H>
struct Keyed : Decorated<H, UnderKey<H>> {
  static constexpr std::string_view state_key = Name<Key>::view();
  using Base = Decorated<H, UnderKey<H>>;
  using Base::Base;
};

}  // namespace crochet
