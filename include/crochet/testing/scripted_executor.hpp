// SPDX-License-Identifier: Apache-2.0
// An executor that computes nothing: its values are given by the test, and it records its requests.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/name.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/testing/script_log.hpp>
#include <crochet/testing/script_names.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet::testing {

/// Made from a log and parts in any order:
/// `ScriptedExecutor executor{log, value<"loss">(1.0f), targets<"train">, placeholder<float, "rate">};`
template <class PlaceholderList, class TargetList, class ValueList>
class ScriptedExecutor;

template <class... P, class... T, class... V>
class ScriptedExecutor<detail::List<P...>, detail::List<T...>, detail::List<V...>>
    : public ScriptNames<detail::List<P...>, detail::List<T...>, detail::List<V...>> {
  using Base = ScriptNames<detail::List<P...>, detail::List<T...>, detail::List<V...>>;
  template <class N, class X>
  struct Held {
    X value;
  };
  struct AllHeld : Held<typename V::name, typename V::type>... {};
  template <class N, class X>
  static X& held(Held<N, X>& entry) {
    return entry.value;
  }

 public:
  struct Workspace {};

  template <class... Part>
  explicit ScriptedExecutor(ScriptLog& log, const Part&... part)
      : log_(&log), values_{{detail::pick<V>(part...).value}...} {}

  void initialize() { ++log_->initialized; }

  template <class D, class... F>
  void run(Workspace&, const F&... fed) {
    note(D{}, Names<typename F::name...>{});
    (remember(F::name::view(), fed.value), ...);
    if (log_->on_run) log_->on_run();
    if (auto found = log_->throws.find(log_->runs.size() - 1); found != log_->throws.end()) {
      std::rethrow_exception(found->second);
    }
  }

  /// The values for probes: they are its nodes, as a StepExecutor's outputs are.
  static constexpr bool takes_probes = true;
  template <class D, class... Probe, class... F>
  void run_probed(Workspace& workspace, const DueProbes<Probe...>& probes, const F&... fed) {
    using Shown = crochet::detail::ProbedOutputs<crochet::detail::ShownOutput<typename V::name, typename V::type>...>;
    static constexpr std::array<std::string_view, sizeof...(F)> feeds{F::name::view()...};
    Shown::template run<D>(
        probes, names_of(static_cast<D*>(nullptr)), feeds,
        [&] { run<D>(workspace, fed...); }, [&]<class N>(N) -> const auto& { return held<N>(values_); });
  }

  template <class N>
  typename Base::template fetched_t<N> fetch(Workspace&) {
    ++log_->reads[std::string(N::view())];
    return held<N>(values_);
  }

  /// Changes a value for future runs: `executor.set("loss"_n, 0.5f)`.
  template <class N, class X>
  void set(N, X&& value) {
    held<N>(values_) = std::forward<X>(value);
  }

 private:
  template <class... N, class R>
  static std::span<const std::string_view> names_of(Demand<Names<N...>, R>*) {
    static constexpr std::array<std::string_view, sizeof...(N)> all{N::view()...};
    return all;
  }
  template <class F, class R, class Fed>
  void note(Demand<F, R>, Fed) {
    log_->runs.push_back({detail::joined(F{}), detail::joined(R{}), detail::joined(Fed{})});
  }
  template <class X>
  void remember(std::string_view name, const X& fed) {
    if constexpr (std::is_arithmetic_v<X>) log_->fed_scalars[std::string(name)] = static_cast<double>(fed);
  }

  ScriptLog* log_;
  AllHeld values_;
};
template <class... Part>
ScriptedExecutor(ScriptLog&, const Part&...)
    -> ScriptedExecutor<detail::all_placeholders<Part...>, detail::all_targets<Part...>, detail::all_values<Part...>>;

}  // namespace crochet::testing
