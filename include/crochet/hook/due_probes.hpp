// SPDX-License-Identifier: Apache-2.0
// Probes: how a hook looks into a step. A hook states `using probe = P;` (graph/probe.hpp says what a P may do) and has
// `P* due_probe()`, which the session asks after every before_run: the probe if this run is to be looked into, nullptr
// if not. A run in which none is due is the run that it would be without such hooks, after one test; one in which some
// are due is another instantiation of the executor's step, with these probes in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <crochet/config.hpp>

namespace crochet {

/// What the caller of a run asked for, and the global step before it.
struct ProbeRequest {
  std::int64_t step = 0;
  std::span<const std::string_view> fetches, targets, feeds;
};

/// The probes that a run may have to call, each there or not, in the order of their hooks. At least one is there.
template <class... P>
class DueProbes {
 public:
  constexpr DueProbes(const ProbeRequest& request, P*... probes) : request_(request), probes_(probes...) {}

  [[nodiscard]] constexpr const ProbeRequest& request() const { return request_; }
  /// Calls `visit(probe)` for each that is due.
  template <class Visit>
  CROCHET_HOST_ALWAYS_INLINE constexpr void each(Visit&& visit) const {
    std::apply([&](P*... probe) { ((probe != nullptr ? visit(*probe) : void()), ...); }, probes_);
  }

 private:
  ProbeRequest request_;
  std::tuple<P*...> probes_;
};

namespace detail {

template <class H>
struct ProbeOf {
  using type = void;
};
template <class H>
requires requires { typename H::probe; }
struct ProbeOf<H> {
  using type = typename H::probe;
};
/// What a hook states as its probe; void if it states none. A decorator may pass on `void`.
template <class H>
using probe_of = typename ProbeOf<H>::type;
template <class H>
concept StatesProbe = !std::is_void_v<probe_of<H>>;

/// Whether the probe P wants tensors.
template <class P>
concept Watches = requires {
  typename P::watches;
};

/// A hook that shows what hooks do (hook/phase_log.hpp).
template <class H>
concept LogsPhases = requires(H& hook) {
  hook.due_phase_log();
};

/// Asks a hook. A decorator is shown the run, since some of them do not admit all: nullptr_t from one that never admits
/// runs of this type.
template <class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto due_probe(H& hook, [[maybe_unused]] Run& run) {
  if constexpr (!StatesProbe<H>) {
    return nullptr;
  } else if constexpr (requires { hook.due_probe(run); }) {
    return hook.due_probe(run);
  } else {
    return static_cast<probe_of<H>*>(hook.due_probe());
  }
}

}  // namespace detail

}  // namespace crochet
