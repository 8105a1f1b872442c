// SPDX-License-Identifier: Apache-2.0
// Probes: how a hook looks into a step. A hook states `using probe = P;` (graph/probe/probe.hpp says what a P may do)
// and has `P* due_probe()`, which the session asks after every before_run: the probe if this run is to be looked into,
// nullptr if not. A run in which none is due is the run that it would be without such hooks, after one test; one in
// which some are due is another instantiation of the executor's step, with these probes in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <crochet/base/config.hpp>

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

/// A hook that shows what hooks do (hook/phase_log.hpp). Whether a decorator does it says by `logs_phases`.
template <class H>
inline constexpr bool logs_phases = requires(H& hook) {
  hook.due_phase_log();
};
template <class H>
requires requires { H::logs_phases; }
inline constexpr bool logs_phases<H> = H::logs_phases;

/// The same for a hook's log.
template <class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto due_phase_log(H& hook, [[maybe_unused]] Run& run) {
  if constexpr (!logs_phases<H>) {
    return nullptr;
  } else if constexpr (requires { hook.due_phase_log(run); }) {
    return hook.due_phase_log(run);
  } else {
    return hook.due_phase_log();
  }
}

/// Shows the outputs of a step function to probes. Whoever has a probe has its definition
/// (graph/probe/probed_outputs.hpp).
template <class N, class X>
struct ShownOutput;
template <class... Output>
class ProbedOutputs;

/// Of what hooks were asked for, that which can be there in runs of this type.
constexpr std::tuple<> unless_never(std::nullptr_t) { return {}; }
template <class P>
constexpr std::tuple<P*> unless_never(P* pointer) {
  return {pointer};
}

/// The logs that may be due, each there or not.
template <class... L>
class DueLogs {
 public:
  constexpr explicit DueLogs(const std::tuple<L*...>& logs) : logs_(logs) {}

  [[nodiscard]] constexpr bool any() const {
    return std::apply([](const L*... log) { return ((log != nullptr) || ...); }, logs_);
  }
  void clear() const {
    std::apply([](L*... log) { ((log != nullptr ? log->clear() : void()), ...); }, logs_);
  }
  /// call(), recorded in each as that phase of the hook H.
  template <class H, std::size_t K = 0, class Call>
  auto recorded(std::string_view phase, Call&& call) const {
    if constexpr (K == sizeof...(L)) {
      return call();
    } else {
      if (std::get<K>(logs_) == nullptr) return recorded<H, K + 1>(phase, call);
      [[maybe_unused]] const auto scope = std::get<K>(logs_)->template record<H>(phase);
      return recorded<H, K + 1>(phase, call);
    }
  }

 private:
  std::tuple<L*...> logs_;
};

}  // namespace detail

}  // namespace crochet
