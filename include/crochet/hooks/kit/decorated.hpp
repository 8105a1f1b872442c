// SPDX-License-Identifier: Apache-2.0
// Decorated<H, Policy>: the base of all decorators of hooks. It calls every phase of H as the Policy decides. A
// decorator is a Policy and a name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/sees_all_values.hpp>
#include <crochet/hooks/kit/pass_on.hpp>
#include <crochet/hooks/kit/seen_inside.hpp>

namespace crochet {

namespace detail {

template <class... A, class... B>
Names<A..., B...> operator+(Names<A...>, Names<B...>);
template <class H>
struct PlansOf {
  using type = Names<>;
};
template <class H>
requires requires { typename H::plans; }
struct PlansOf<H> {
  using type = typename H::plans;
};

/// Number of decorators with state around the innermost hook; H is one of them or the hook.
template <class H>
constexpr std::size_t layers_with_state() {
  if constexpr (Decorates<H>) {
    constexpr std::size_t inside = layers_with_state<typename H::decorates>();
    if constexpr (requires { decltype(H::policy)::state_name; }) return inside + 1;
    return inside;
  } else {
    return 0;
  }
}

/// Replaces a bool that is always true. One type per decorator, since empty objects of one type need different
/// addresses.
template <class Decorator>
struct AlwaysAdmitted {
  constexpr explicit(false) AlwaysAdmitted(bool /*yes*/) {}
  constexpr explicit(false) operator bool() const { return true; }
};

/// A policy's decision made before before_run, for a hook whose log of phases begins there.
struct Foreseen {
  bool requested = false, admits = false;
};
template <class Decorator>
struct NothingForeseen {};

template <class T>
concept SaysCadence = requires(const T& says) {
  std::string(says.cadence());
};

}  // namespace detail

/// The hook H under a Policy. It is brace-initialized like H, one level deeper, followed by the policy's options:
///   EveryN<10, Plateau>{{.patience = 3}}
///   Isolated<Plateau>{{}, {.disable_after = 3}}
/// - `hook` and `policy` are public.
/// - Decorators nest. Each forwards H's fetches, plans and order, and the diagnosis of an invalid H.
/// - Cost of a phase: H's own and the Policy's. With an empty H and an empty Policy the decorator is empty.
template <class H, class Policy>
class Decorated {
  template <class P, class... A>
  static constexpr bool calls = P::template handled<H, A...> || detail::is_listed<P, typename Policy::phases>;

 public:
  using decorates = H;
  using plans = decltype(detail::operator+(typename Policy::plans{}, typename detail::PlansOf<H>::type{}));
  using probe = detail::probe_of<H>;
  static constexpr bool logs_phases = detail::logs_phases<H>;
  static constexpr bool sees_all_values = SeesAllValues<H>;
  static constexpr RunsOn runs_on = crochet::runs_on<H>;
  static constexpr declared_fetches<H> fetches{};

  /// For hooks without required options.
  constexpr Decorated() requires std::is_default_constructible_v<H> : hook{} {}
  // NOLINTNEXTLINE(google-explicit-constructor): {{.every_steps = 50}}, also inside another decorator's braces
  constexpr Decorated(H inner, typename Policy::options how = {})
      : hook(std::move(inner)), policy(make_policy(std::move(how))) {}

  /// For sessions on several ranks.
  constexpr void join_ranks(int rank, int size) requires(detail::JoinsRanks<H> || detail::JoinsRanks<Policy>) {
    if constexpr (detail::JoinsRanks<Policy>) policy.join_ranks(rank, size);
    if constexpr (detail::JoinsRanks<H>) hook.join_ranks(rank, size);
  }
  constexpr void mute() requires(detail::Mutes<H> || detail::Mutes<Policy>) {
    if constexpr (detail::Mutes<Policy>) policy.mute();
    if constexpr (detail::Mutes<H>) hook.mute();
  }

  template <class Builder>
  static constexpr void extend_graph(Builder& builder) requires phase::extend_graph::handled<H, Builder> {
    H::extend_graph(builder);
  }

  constexpr void begin() requires(calls<phase::begin>) {
    policy.begin();
    if constexpr (phase::begin::handled<H>) policy.template around<phase::begin>([&] { hook.begin(); });
  }

  template <class Session, class Threads>
  constexpr void after_create_session(
      Session& session, Threads& coordinator) requires phase::after_create_session::handled<H, Session, Threads> {
    policy.template around<phase::after_create_session>(
        [&] { hook.after_create_session(detail::session_inside<Policy>(session), coordinator); });
  }

  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto before_run(Run& run) {
    if constexpr (!Policy::template applies_to<Run>) {
      return RunArgs<>{};
    } else if constexpr (Policy::decides_at_run_time) {
      return request_if_admitted(run);
    } else {
      return request_always(run);
    }
  }

  template <class Run, class Values>
  CROCHET_HOST_ALWAYS_INLINE constexpr void after_run(
      [[maybe_unused]] Run& run,
      [[maybe_unused]] Values& values) requires(calls<phase::after_run, detail::run_inside<H, Policy, Run>, Values>) {
    if constexpr (Policy::template applies_to<Run>) {
      policy.ran(run, admitted);
      if constexpr (phase::after_run::handled<H, detail::run_inside<H, Policy, Run>, Values>) {
        auto&& inside = detail::seen_inside<H, Policy>(run);
        if (admitted) policy.template around<phase::after_run>([&] { hook.after_run(inside, values); });
      }
    }
  }

  template <class Session>
  constexpr void end(Session& session) requires(calls<phase::end, Session>) {
    if constexpr (phase::end::handled<H, Session>) {
      try {
        policy.template around<phase::end>([&] { hook.end(detail::session_inside<Policy>(session)); });
      } catch (...) {
        policy.end();  // writes the times of Timed
        throw;
      }
    }
    policy.end();
  }

  template <class Error>
  constexpr void on_error(Error& error) requires phase::on_error::handled<H, Error> {
    policy.template around<phase::on_error>([&] { hook.on_error(error); });
  }

  /// The hook's state, and in a separate section the policy's.
  template <class Out>
  constexpr void save_state(Out& out) const
      requires(phase::save_state::handled<H, Out> || phase::save_state::handled<Policy, Out>) {
    if constexpr (phase::save_state::handled<H, Out>) hook.save_state(out);
    if constexpr (phase::save_state::handled<Policy, Out>) {
      out.section(policy_section(), [&] { policy.save_state(out); });
    }
  }
  template <class In>
  constexpr void load_state(In& in) requires(phase::load_state::handled<H, In> ||
                                             phase::load_state::handled<Policy, In>) {
    if constexpr (phase::load_state::handled<H, In>) hook.load_state(in);
    if constexpr (phase::load_state::handled<Policy, In>) {
      in.section(policy_section(), [&] { policy.load_state(in); });
    }
  }

  /// H's probe in the runs of H, and its log of phases (hook/due_probes.hpp). A policy that decides at run time then
  /// decides at the start of a run.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_probe([[maybe_unused]] Run& run) requires detail::StatesProbe<H> {
    if constexpr (!Policy::template applies_to<Run>) {
      return nullptr;
    } else {
      auto&& inside = detail::seen_inside<H, Policy>(run);
      decltype(detail::due_probe(hook, inside)) due = nullptr;
      if (admitted) policy.requesting([&] { due = detail::due_probe(hook, inside); });
      return due;
    }
  }
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_phase_log([[maybe_unused]] Run& run) requires(logs_phases) {
    if constexpr (!Policy::template applies_to<Run>) {
      return nullptr;
    } else {
      auto&& inside = detail::seen_inside<H, Policy>(run);
      decltype(detail::due_phase_log(hook, inside)) due = nullptr;
      if constexpr (Policy::decides_at_run_time) {
        foreseen = {true, policy.admits(run)};
        if (!foreseen.admits) return due;
      }
      policy.requesting([&] { due = detail::due_phase_log(hook, inside); });
      return due;
    }
  }

  /// For describe(): "every 10 runs; every 100 steps", outermost first.
  [[nodiscard]] std::string cadence() const requires(detail::SaysCadence<H> || detail::SaysCadence<Policy>) {
    std::string text;
    if constexpr (detail::SaysCadence<Policy>) text += policy.cadence();
    if constexpr (detail::SaysCadence<H>) (text += text.empty() ? "" : "; ") += hook.cadence();
    return text;
  }

  CROCHET_NO_UNIQUE_ADDRESS H hook;
  CROCHET_NO_UNIQUE_ADDRESS Policy policy{};
  /// Whether the hook takes part in the current run.
  CROCHET_NO_UNIQUE_ADDRESS std::conditional_t<Policy::decides_at_run_time, bool, detail::AlwaysAdmitted<Decorated>>
      admitted{true};
  CROCHET_NO_UNIQUE_ADDRESS std::conditional_t<Policy::decides_at_run_time && logs_phases, detail::Foreseen,
                                               detail::NothingForeseen<Decorated>>
      foreseen{};

 private:
  /// Two nested decorators of one type need two names.
  static std::string policy_section() {
    return std::string(Policy::state_name) + std::string(detail::layers_with_state<H>(), '\'');
  }
  static constexpr Policy make_policy([[maybe_unused]] typename Policy::options how) {
    if constexpr (std::is_same_v<typename Policy::options, NoOptions>) {
      return Policy{};
    } else {
      return Policy(std::move(how));
    }
  }

  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto request_always(Run& run) {
    auto&& inside = detail::seen_inside<H, Policy>(run);
    auto requested = policy.template around<phase::before_run>([&] { return request(hook, inside); });
    if constexpr (decltype(requested)::conditional) {
      return std::move(requested).optional();
    } else {
      return requested.args();
    }
  }

  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr bool admits_now(Run& run) {
    if constexpr (logs_phases) {
      if (std::exchange(foreseen.requested, false)) return foreseen.admits;
    }
    return policy.admits(run);
  }
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto request_if_admitted(Run& run) {
    auto&& inside = detail::seen_inside<H, Policy>(run);
    std::optional<requested_args<H, decltype(inside)>> wish;
    const bool admits = admits_now(run);
    admitted = false;  // and stays so if the hook throws and the policy catches
    if (admits) {
      policy.template around<phase::before_run>([&] {
        wish = request(hook, inside).optional();
        admitted = true;
      });
    }
    return wish;
  }
};

}  // namespace crochet
