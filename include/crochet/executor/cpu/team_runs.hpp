// SPDX-License-Identifier: Apache-2.0
// TeamRuns: the runs of an executor's plans on a team of threads, in the memory of a workspace.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/chosen_team.hpp>
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/probed_steps.hpp>
#include <crochet/executor/cpu/run_memory.hpp>
#include <crochet/executor/cpu/shard_memory.hpp>
#include <crochet/executor/cpu/shard_steps.hpp>
#include <crochet/executor/cpu/thread_choices.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/executor/plan/variables.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The base of an executor. Backend: the policy for products; T: the tables of the graph.
template <class Backend, class T>
class TeamRuns {
 public:
  /// The memory of a run. It grows to the size of the largest run and is kept.
  class Workspace {
    friend class TeamRuns;
    RunMemory<T> memory_;
    ThreadChoices choices_;
    struct NoShards {
      static constexpr std::size_t bytes() { return 0; }
    };
    [[no_unique_address]] std::conditional_t<kernel::in_shards<Backend>, ShardMemory<T>, NoShards> shards_;
  };

  const Settings& settings() const { return settings_; }
  /// The limit of threads.
  int threads() const { return team_.size(); }
  /// The bytes of memory of a run, without the variables.
  std::size_t workspace_bytes(const Workspace& w) const { return w.memory_.bytes() + w.shards_.bytes(); }

 protected:
  explicit TeamRuns(const Settings& settings) : settings_(settings), team_(settings) {}

  /// Runs plan P of the demand D. `feeds` have been checked.
  template <class P, class D, class... F>
  CROCHET_HOST_ALWAYS_INLINE void run_plan(Workspace& w, const F&... feeds) {
    variables_.template settle<P>();
    const auto execute = [&](const Dims& dims, const auto& steps) {
      guard_exchanges<P>([&] {
        if constexpr (Lowering<T, P, Backend>::only_scalars) {
          team_.run_alone(steps);
        } else {
          team_.template run<P>(w.choices_, dims, steps);
        }
      });
    };
    if constexpr (in_shards<P>) {
      const auto run = [&](const auto& shards, const auto& remember) {
        execute(shards.frames[0].dims, [&](kernel::Worker& worker) { ShardSteps<T, P, Backend>::run(shards, worker); });
        remember();
      };
      run_shards<P, P, D>(w, run, feeds...);
    } else {
      run_steps<P, D>(w, execute, feeds...);
    }
  }

  /// As run_plan(), with probes. `Plain`: the plan without watches; `Shown`: a ProbedRun.
  template <class P, class Plain, class Shown, class D, class Probes, class... F>
  CROCHET_COLD void run_probed_plan(Workspace& w, const Probes& probes, const F&... feeds) {
    using Steps = ProbedSteps<T, P, Backend, Probes>;
    variables_.template settle<P>();
    if constexpr (in_shards<P>) {  // the first of the rank's shards is shown
      const auto run = [&](const auto& shards, const auto& remember) {
        const auto steps = [&](kernel::Worker& worker, const auto& show) {
          Steps::template run_shards<Shown>(shards, worker, probes, show);
        };
        show_run<P, Plain, Shown, F...>(w, shards.frames[0], probes, steps, remember);
      };
      run_shards<P, Plain, D>(w, run, feeds...);
    } else {
      typename Lowering<T, P, Backend>::FrameType frame;
      bind_all<P>(w, frame, feeds...);
      if constexpr (kernel::divides_batch<Backend>) begin_exchange<Plain>(frame);
      const auto steps = [&](kernel::Worker& worker, const auto& show) {
        Steps::template run<Shown>(frame, worker, probes, show);
      };
      show_run<P, Plain, Shown, F...>(w, frame, probes, steps,
                                      [&] { w.memory_.template remember<P>(frame, static_cast<D*>(nullptr)); });
    }
  }

  /// The parts that sums are divided into.
  kernel::Parts parts() const { return {.most = team_.size(), .all = settings_.divides_all}; }
  /// A value of the last run on the workspace.
  template <class N>
  decltype(auto) value(Workspace& w) const {
    return w.memory_.template value<N>(variables_);
  }

  /// Binds the feeds, places the values, and calls execute(dimensions, steps); steps(worker) is the work of one member.
  template <class P, class D, class Execute, class... F>
  CROCHET_HOST_ALWAYS_INLINE void run_steps(Workspace& w, const Execute& execute, const F&... feeds) const {
    using L = Lowering<T, P, Backend>;
    typename L::FrameType frame;  // not cleared: the entries in use are filled
    bind_all<P>(w, frame, feeds...);
    if constexpr (kernel::divides_batch<Backend>) begin_exchange<P>(frame);
    execute(frame.dims, [&](kernel::Worker& worker) { L::run(frame, worker); });
    w.memory_.template remember<P>(frame, static_cast<D*>(nullptr));
  }

  Settings settings_;
  ChosenTeam team_;
  Variables<T> variables_;

 private:
  /// Whether runs of plan P are in several shards: those that exchange.
  template <class P>
  static constexpr bool in_shards = kernel::in_shards<Backend>&& ExchangesOf<T, P>::any;

  /// As run_steps(), for each of the rank's shards: calls run(Shards, remember). `Plain`: the plan without watches.
  template <class P, class Plain, class D, class Run, class... F>
  void run_shards(Workspace& w, const Run& run, const F&... feeds) {
    typename Lowering<T, P, Backend>::FrameType whole;
    whole.variables = variables_.data();
    w.memory_.template bind_feeds<P>(whole, feeds...);
    const auto shards = w.shards_.template place<P, Backend>(whole, *settings_.exchange, team_.size());
    begin_exchange<Plain>(whole);
    w.shards_.template divide<P, typename F::name...>(shards);
    run(shards, [&] {
      std::size_t used = 0;
      const auto address_of = [&]<std::int32_t V>(std::integral_constant<std::int32_t, V>) {
        return w.shards_.template fetched<P, V>(whole, shards, used);
      };
      w.memory_.template remember_at<P>(whole.dims, static_cast<D*>(nullptr), address_of);
    });
  }

  /// Shows the run of `frame` to the probes: steps(worker, show) is the work of one member.
  template <class Plan, class Plain, class Shown, class... F, class Frame, class Probes, class Steps, class Remember>
  CROCHET_COLD void show_run(Workspace& w, Frame& frame, const Probes& probes, const Steps& steps,
                             const Remember& remember) {
    using L = Lowering<T, Plain, Backend>;
    Shown shown(frame, variables_);
    const auto facts = StepFacts<T, Plan>::at(frame.dims);
    // As many threads as plain runs have.
    const int threads = L::only_scalars ? 1 : team_.template members<Plain>(w.choices_, frame.dims);
    const int task = settings_.exchange == nullptr ? -1 : settings_.exchange->task();
    ProbeFailure failure;
    const auto begin = [&] {
      shown.begin(probes, facts,
                  {.members = threads, .workspace_bytes = workspace_bytes(w), .device = {.name = {}, .task = task}},
                  crochet::detail::List<F...>{});
    };
    // Behind begin_exchange() the other ranks run the steps, so this one does, too.
    if constexpr (kernel::divides_batch<Backend> && ExchangesOf<T, Plain>::any) {
      failure.guard_begin(probes, begin);
    } else {
      begin();
    }
    const auto show = [&]<class S>(S) { failure.guard([&] { shown.template behind<S::value>(probes); }); };
    const auto work = [&](kernel::Worker& worker) { steps(worker, show); };
    guard_exchanges<Plain>([&] {
      if constexpr (L::only_scalars) {
        team_.run_alone(work);
      } else {
        team_.run_on(threads, work);
      }
    });
    remember();
    failure.rethrow();
    shown.end(probes);
  }

  /// The variables, feeds, sizes and values of a run of plan P.
  template <class P, class Frame, class... F>
  CROCHET_HOST_ALWAYS_INLINE void bind_all(Workspace& w, Frame& frame, const F&... feeds) const {
    frame.variables = variables_.data();
    w.memory_.template bind<P, Backend>(frame, team_.size(), feeds...);
  }

  /// On one of several ranks: a run of plan P that exchanges begins when all ranks have come to it.
  template <class P, class Frame>
  void begin_exchange(Frame& frame) const {
    using Exchanges = ExchangesOf<T, P>;
    frame.exchange = settings_.exchange;
    if constexpr (Exchanges::any) settings_.exchange->begin(Exchanges::kind, Exchanges::rows(frame.dims));
  }
  /// The steps of a run of plan P behind begin_exchange(). The other ranks wait for its exchanges, so an error of this
  /// one, for example of missing scratch memory, ends all ranks.
  template <class P, class Steps>
  CROCHET_HOST_ALWAYS_INLINE void guard_exchanges(const Steps& steps) const {
    if constexpr (kernel::divides_batch<Backend> && ExchangesOf<T, P>::any) {
      try {
        steps();
      } catch (const std::exception& e) {
        settings_.exchange->abort(e.what());
      }
    } else {
      steps();
    }
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
