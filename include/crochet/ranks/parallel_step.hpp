// SPDX-License-Identifier: Apache-2.0
// ParallelStep: a step function on one of several ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/rank_group.hpp>
#include <crochet/ranks/ranks_of_step.hpp>
#include <crochet/ranks/whole_state.hpp>

namespace crochet {

namespace detail {

template <class C>
struct OwnedGroup {
  std::unique_ptr<RankGroup<C>> group;
};

template <class S>
inline constexpr bool is_step = false;
template <class Step, class... Ports>
inline constexpr bool is_step<StepExecutor<Step, Ports...>> = true;

struct NoWholeState {};
template <class Step>
struct WholeStateOf {
  using type = NoWholeState;
};
template <class Step>
requires(Step::has_divided_state) struct WholeStateOf<Step> {
  using type = decltype(whole_state_of(std::declval<typename Step::Variables>()));
};

/// A hash of the names that a run fetches and is fed. The order in which hooks and callers name them does not matter.
template <class Ranks, class D, class... Fed>
struct KindOfStep;
template <class Ranks, class... N, class T, class... Fed>
struct KindOfStep<Ranks, Demand<Names<N...>, T>, Fed...> {
  static constexpr std::uint64_t value = (Ranks::kind_of("step") + ... + Ranks::kind_of(N::view())) +
                                         3 * (std::uint64_t{} + ... + Ranks::kind_of(Fed::view()));
};

/// The memory of a run, with which a step function reaches the other ranks.
template <class Step, Communicator C>
struct WorkspaceOfRank : Step::Workspace {
  RankGroup<C>* group = nullptr;
  [[nodiscard]] RanksOfStep<C> over_ranks() const { return RanksOfStep<C>{*group}; }
};

/// The executor of one rank for hooks that are called on that rank alone.
template <class Step, Communicator C>
class StepOfRank : protected OwnedGroup<C>, public Step {
 public:
  /// The step function may exchange, so all ranks make each run together.
  template <class>
  static constexpr bool exchanges = true;

  /// The state of all ranks, as a checkpoint has it: see WholeState. Variables that are divided are read of all ranks,
  /// which the others do at their next roll call; so it is called within a session, by hooks and creators. Cost: the
  /// variables move to this rank, and it keeps memory for them.
  template <class Visit>
  void for_each_variable(Visit&& visit) requires(Step::has_state) {
    show<false>(*this, visit);
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const requires(Step::has_state) {
    show<true>(*this, visit);
  }
  /// Only the variables that are the same on all ranks.
  template <class Visit>
  void for_each_common_variable(Visit&& visit) requires(Step::has_state) {
    show_common<false>(visit);
  }
  template <class Visit>
  void for_each_common_variable(Visit&& visit) const requires(Step::has_state) {
    show_common<true>(visit);
  }

 protected:
  StepOfRank(Step step, C communicator)
      : OwnedGroup<C>{std::make_unique<RankGroup<C>>(std::move(communicator))}, Step(std::move(step)) {
    if constexpr (Step::has_divided_state) {
      this->group->set_parts(decltype(whole_)::parts_of(this->state().variables));
    }
  }

 private:
  template <bool IsConst, class Self, class Visit>
  static void show(Self& self, Visit& visit) {
    if constexpr (Step::has_divided_state) {
      self.whole_.template visit<IsConst>(*self.group, self.state().variables, visit);
    } else {
      static_cast<std::conditional_t<IsConst, const Step&, Step&>>(self).for_each_variable(visit);
    }
  }
  template <bool IsConst, class Visit>
  void show_common(Visit& visit) const {
    const auto show_one = [&]<class V>(const V& v) {
      using Element = typename V::Element;
      if constexpr (!is_divided<V>) v.template show<std::conditional_t<IsConst, const Element, Element>>(visit);
    };
    std::apply([&](const auto&... v) { (show_one(v), ...); }, this->state().variables);
  }

  CROCHET_NO_UNIQUE_ADDRESS mutable typename WholeStateOf<Step>::type whole_;
};

}  // namespace detail

/// A step function on one of several ranks: an executor for sessions, made by `Parallel{step, communicator}`. Its
/// interface is that of the StepExecutor; `ranks()` is what the ranks have in common.
/// - Before each step all ranks meet in a roll call of 32 bytes a rank. With state that differs between ranks they meet
///   again behind the hooks' after_run.
/// - The step function exchanges what it needs by itself, or by `out.sum_over_ranks(x)`.
/// - Variables that are the same on all ranks are those of rank 0 when a session is created.
template <class Step, Communicator C>
class ParallelStep : public detail::StepOfRank<Step, C> {
  using Base = detail::StepOfRank<Step, C>;
  template <class D, class... F>
  static constexpr std::uint64_t kind = detail::KindOfStep<RankGroup<C>, D, typename F::name...>::value;

 public:
  using Workspace = detail::WorkspaceOfRank<Step, C>;

  /// Without what the ranks have in common: for hooks that are called on one rank.
  using OfOneRank = Base;
  static constexpr bool state_differs_between_ranks = Step::has_divided_state;
  /// A step function may throw StopIteration when other ranks have done the step.
  static constexpr bool may_end_in_a_step = true;

  /// Hooks that state RunsOn::chief run on rank 0 only.
  template <class H>
  using placed_hook = std::conditional_t<runs_on<H> == RunsOn::chief, OnChief<H>, H>;

  ParallelStep(Step step, C communicator) : Base(std::move(step), std::move(communicator)) {}

  /// Collective. Throws what the step function throws; before it PeerFailedError, PeerPreemptedError, StopIteration, or
  /// RanksDisagreeError if a rank runs with other fetches or feeds.
  template <class D, class... F>
  void run(Workspace& workspace, const F&... fed) {
    workspace.group = this->group.get();
    ranks().run_step(kind<D, F...>, [&] { this->template call<D>(workspace, fed...); });
  }
  template <class D, class... P, class... F>
  void run_probed(Workspace& workspace, const DueProbes<P...>& probes, const F&... fed) {
    workspace.group = this->group.get();
    ranks().run_step(kind<D, F...>, [&] {
      this->template probe<D>(workspace, probes, ranks().task(), static_cast<D*>(nullptr), fed...);
    });
  }

  [[nodiscard]] RankGroup<C>& ranks() { return *this->group; }
};

}  // namespace crochet
