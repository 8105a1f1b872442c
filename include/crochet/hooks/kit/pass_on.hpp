// SPDX-License-Identifier: Apache-2.0
// PassOn: what the policy of a decorator may decide about its hook, with defaults that change nothing.
#pragma once

#include <crochet/base/config.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// The options of a policy without any.
struct NoOptions {};

/// CRTP base of policies; its defaults change nothing. `Self` is the policy: it gives different policies different
/// bases. An empty policy has H as a template parameter, since two empty objects of one type cannot share an address.
template <class Self>
struct PassOn {
  /// The policy's own phases, handled whether or not the hook has them: begin (before the hook's), after_run (`ran`,
  /// before the hook's), end (after the hook's).
  using phases = Phases<>;
  /// Targets that the policy names; the session checks that they exist.
  using plans = Names<>;
  /// Whether the hook takes part in runs of this type. If not, the run contains no code of the hook.
  template <class Run>
  static constexpr bool applies_to = true;
  /// Whether `admits` may return false. It makes the hook's request conditional: one more plan (session/demand.hpp).
  static constexpr bool decides_at_run_time = false;
  // A policy with state has save_state, load_state and a section name for them, `state_name`.

  /// The user's settings; a policy with options is constructible from them.
  using options = NoOptions;

  constexpr void begin() {}
  constexpr bool admits(auto&) { return true; }
  constexpr void ran(auto& /*run*/, bool /*admitted*/) {}
  constexpr void end() {}
  /// Calls the hook outside its phases, for its probe or its log: `call()`, which returns nothing.
  template <class Call>
  CROCHET_HOST_ALWAYS_INLINE constexpr void requesting(Call&& call) {
    call();
  }
  /// Calls the hook: `call()`. With `decides_at_run_time` the call returns nothing and may be omitted.
  template <class Phase, class Call>
  constexpr decltype(auto) around(Call&& call) {
    return call();
  }
};

}  // namespace crochet
