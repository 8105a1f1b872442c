// SPDX-License-Identifier: Apache-2.0
// share_session: gives all ranks the chief's session: variables, step and the state of the hooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <crochet/hook/chain_state.hpp>
#include <crochet/ranks/chain_state_bytes.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/variables.hpp>

namespace crochet::detail {

/// Ranks: a RankGroup. Raw: a RawSession.
template <class Ranks, class Raw>
class SharedSession {
  using E = typename Raw::Executor;

 public:
  SharedSession(Ranks& ranks, Raw& raw) : ranks_(ranks), raw_(raw) {}

  /// Not collective: all that can fail on this rank alone. To be called before the ranks meet for share().
  void prepare() {
    prepare_weights();
    if (ranks_.is_chief() && raw_.saves_hook_state()) {
      state_ = StateBytesWriter::of(ChainState::of([&](auto& out) { raw_.save_hook_state(out); }));
    }
  }
  /// The same for share_weights(): those of a GPU are copied to the host.
  void prepare_weights() {
    if constexpr (HasVariables<E>) {
      if (!raw_.executor().variables_initialized()) return;
      for_each_common_variable(raw_.executor(), [](auto, auto, auto) { return false; });
    }
  }
  /// Collective.
  void share() {
    share_weights();
    if (raw_.saves_hook_state()) share_hook_state();
  }
  /// Collective: variables and step.
  void share_weights() {
    if constexpr (HasVariables<E>) share_variables();
    if constexpr (!CountsSteps<E>) raw_.set_step(shared(raw_.step()));
  }

 private:
  template <class T>
  T shared(T value) {
    ranks_.broadcast(std::as_writable_bytes(std::span{&value, 1}));
    return value;
  }

  /// Nothing if the chief's creator has left a variable without a value.
  void share_variables() {
    if (shared<std::uint8_t>(raw_.executor().variables_initialized() ? 1 : 0) == 0) return;
    for_each_common_variable(raw_.executor(), [&](auto, auto elements, auto) {
      ranks_.broadcast(std::as_writable_bytes(elements));
      return !ranks_.is_chief();
    });
  }
  void share_hook_state() {
    std::vector<std::byte> bytes = std::move(state_);
    bytes.resize(shared(bytes.size()));
    ranks_.broadcast(bytes);
    if (ranks_.is_chief()) return;
    StateBytesReader::from(bytes).load([&](auto& out) { raw_.save_hook_state(out); },
                                       [&](auto& in) { raw_.load_hook_state(in); });
  }

  Ranks& ranks_;
  Raw& raw_;
  std::vector<std::byte> state_;  // the chief's
};

}  // namespace crochet::detail
