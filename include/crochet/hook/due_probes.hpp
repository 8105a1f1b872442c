// SPDX-License-Identifier: Apache-2.0
// Probes: how a hook instruments a step. A hook declares `using probe = P;` (graph/probe/probe.hpp lists the members of
// P) and has `P* due_probe()`. The session calls due_probe() after every before_run. It returns the probe if the run is
// to be instrumented, otherwise nullptr. A run without a due probe costs one test more than without such hooks. A run
// with due probes uses another instantiation of the executor's step, which contains these probes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>

namespace crochet {

/// The caller's request for the run, and the global step before it.
struct ProbeRequest {
  std::int64_t step = 0;
  std::span<const std::string_view> fetches, targets, feeds;
};

/// The probes that a run may have to call, in the order of their hooks. Each may be absent; at least one is present.
template <class... P>
class DueProbes {
 public:
  constexpr DueProbes(const ProbeRequest& request, P*... probes) : request_(request), probes_(probes...) {}

  [[nodiscard]] constexpr const ProbeRequest& request() const { return request_; }
  /// Calls `visit(probe)` for each that is due.
  template <class Visit>
  CROCHET_HOST_ALWAYS_INLINE constexpr void each(Visit&& visit) const {
    // Twice a step of each plan: std::apply would cost the compiler ten instantiations a call.
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(probes_) != nullptr ? visit(*std::get<I>(probes_)) : void()), ...);
    }
    (std::index_sequence_for<P...>{});
  }

  /// None is due any more: one has failed at the beginning, and those behind it were not called there.
  void drop() const { probes_ = {}; }

 private:
  ProbeRequest request_;
  mutable std::tuple<P*...> probes_;
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
/// The probe type that a hook declares; void if it declares none. A decorator may forward `void`.
template <class H>
using probe_of = typename ProbeOf<H>::type;
template <class H>
concept StatesProbe = !std::is_void_v<probe_of<H>>;

/// Whether the probe P observes tensors.
template <class P>
concept Watches = requires {
  typename P::watches;
};

/// The hook's due probe. A decorator receives the run, since some decorators skip runs. Its return type is nullptr_t if
/// it skips all runs of this type.
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

/// A hook that displays the phases of hooks (hook/phase_log.hpp). A decorator declares it by `logs_phases`.
template <class H>
inline constexpr bool logs_phases = requires(H& hook) {
  hook.due_phase_log();
};
template <class H>
requires requires { H::logs_phases; }
inline constexpr bool logs_phases<H> = H::logs_phases;

/// The hook's due phase log, by the same rules.
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

/// Passes the outputs of a step function to probes. Defined in graph/probe/probed_outputs.hpp, which every probe
/// includes.
template <class N, class X>
struct ShownOutput;
template <class... Output>
class ProbedOutputs;

/// The pointers that can be non-null in runs of this type.
constexpr std::tuple<> unless_never(std::nullptr_t) { return {}; }
template <class P>
constexpr std::tuple<P*> unless_never(P* pointer) {
  return {pointer};
}

/// The logs that may be due. Each may be absent.
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
  /// Executes call() and records it in each log as that phase of hook H.
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
