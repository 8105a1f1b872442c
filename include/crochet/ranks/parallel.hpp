// SPDX-License-Identifier: Apache-2.0
// Parallel: a device on each of several ranks, which compute a batch together; or a step function on each of them.
#pragma once

#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/divided_model.hpp>
#include <crochet/ranks/parallel_executor.hpp>
#include <crochet/ranks/parallel_options.hpp>
#include <crochet/ranks/parallel_step.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

namespace detail {
template <class D>
concept CompilesForRanks = requires {
  requires D::is_device;
};
template <class Step>
inline constexpr bool options_fit = !is_step<Step>;
}  // namespace detail

/// `Parallel{Cpu{.threads = 4}, communicator}` in place of `Cpu{.threads = 4}`: the ranks of the communicator train one
/// model together.
/// - The program states the batch of all ranks; each rank is fed its rows of it. Steps, epochs, learning rates and
///   cadences mean what they mean on one machine.
/// - minimize() gets the gradients of the whole batch, from a loss that is a mean or a sum over the rows. Named scalars
///   of that form are those of the whole batch, too, so all ranks see the values of one machine.
/// - All variables have the same bits on all ranks after every step. Repeated with the same number of ranks a run has
///   the same bits; with another number it is equal up to rounding, or has the same bits in fixed shards:
///   ParallelOptions.
/// - compile() is collective. With Solo the executor is that of the device, except in fixed shards.
/// `Parallel{step, communicator}` of a StepExecutor is an executor: see ParallelStep. With Solo a session has the
/// StepExecutor itself.
template <class Device, class C, class Options = BlockingExchange>
struct Parallel {
  Device device;
  C communicator;
  Options options = {};

  static constexpr bool is_device = true;

  /// Collective. Throws LogicError if ParallelOptions::shards or ShardedOptimizer does not fit the number of ranks, and
  /// RanksDisagreeError on all ranks if the limit of threads or the seed of their devices differs.
  template <class Model>
  auto compile() const {
    constexpr bool in_shards = std::is_same_v<Options, ParallelOptions>;
    constexpr bool overlaps = std::is_same_v<Options, OverlappedExchange>;
    static_assert(
        !overlaps || NonblockingCommunicator<C> || std::is_same_v<C, Solo> ||
            (DeviceCommunicator<C> && Device::exchanges_on_device),
        "crochet: OverlappedExchange needs a communicator whose calls can return at once: give it the members of "
        "NonblockingCommunicator (ranks/communicator.hpp), or use BlockingExchange");
    static_assert(!in_shards || Device::has_shards,
                  "crochet: ParallelOptions::shards is for Cpu: a GPU's sums have an order of their own. Leave out the "
                  "options, or use Cpu");
    constexpr int parts = detail::optimizer_parts<Options>;
    static_assert(parts == 0 || Device::has_shards,
                  "crochet: ShardedOptimizer is for Cpu; leave out the options, or use Cpu");
    static_assert(parts <= 1 || !std::is_same_v<C, Solo>,
                  "crochet: ShardedOptimizer<N> needs N ranks, and Solo is one; leave out the options");
    using Divided = detail::DividedModel<Model, detail::ModelDivision{in_shards, overlaps, parts}>;
    using Reason = typename decltype(detail::dividing_reason<Divided>())::type;
    static_assert(model_is_usable<Reason>, "crochet: crochet::error says why");
    if constexpr ((std::is_same_v<C, Solo> && !in_shards) || !detail::Builds<Model>) {
      return device.template compile<Model>();
    } else if constexpr (detail::Builds<Divided, detail::ShareOverRanks>) {
      const RankGroupOptions how = detail::group_options(options);
      if (Device::exchanges_on_device && DeviceCommunicator<C> && how.compression != Compression::none) {
        throw LogicError(
            "crochet: GPUs exchange gradients by Nccl as they are; leave out .compression, or give Parallel the ranks "
            "without Nccl");
      }
      return ParallelExecutor<Device, Divided, C>(device, communicator, how);
    } else if constexpr (!std::is_same_v<Reason, error::none>) {
      return UnusableExecutor<>{};
    } else {  // reported here and not in a called function, because compilers print the chain of calls
#if defined(__clang__)
      static_assert(detail::try_to_build<Divided, detail::ShareOverRanks>());
#else
      [[maybe_unused]] constexpr bool wrong = detail::try_to_build<Divided, detail::ShareOverRanks>();
#endif
      return UnusableExecutor<>{};
    }
  }
};

template <class Step, class C>
requires detail::is_step<Step>
struct Parallel<Step, C, BlockingExchange> : ParallelStep<Step, C> {
  /// Copies of a communicator are the same ranks.
  Parallel(Step step, C communicator) : ParallelStep<Step, C>(std::move(step), std::move(communicator)) {}
  /// For options: only reports them.
  Parallel(Step step, C communicator, const BlockingExchange&) : Parallel(std::move(step), std::move(communicator)) {
    static_assert(
        detail::options_fit<Step>,
        "crochet: the options of Parallel are for models; a StepExecutor exchanges by itself: leave them out");
  }
};
template <class Step>
requires detail::is_step<Step>
struct Parallel<Step, Solo, BlockingExchange> : Step {
  /// What a session has.
  using executor_of_session = Step;
  constexpr Parallel(Step step, Solo /*communicator*/) : Step(std::move(step)) {}
};
template <class Step, class C, class Options>
requires detail::is_step<Step>
struct Parallel<Step, C, Options> {
  static_assert(detail::options_fit<Step>,
                "crochet: the options of Parallel are for models; a StepExecutor exchanges by itself: leave them out");
  using executor_of_session = UnusableExecutor<>;
  Parallel(const Step&, const C&, const Options&) {}
};
template <class Other, class C, class Options>
requires(!detail::is_step<Other> && !detail::CompilesForRanks<Other>) struct Parallel<Other, C, Options> {
  static_assert(detail::CompilesForRanks<Other>,
                "crochet: Parallel takes a device, Cpu{} for example, or a StepExecutor; make a StepExecutor of a step "
                "function, and call compile<Model>() of the Parallel of a device");
  using executor_of_session = UnusableExecutor<>;
  Parallel(const Other&, const C&, const Options& = {}) {}
  template <class>
  static UnusableExecutor<> compile() {
    return {};
  }
};

template <class Device, class C>
Parallel(Device, C) -> Parallel<Device, C>;
template <class Device, class C>
Parallel(Device, C, ParallelOptions) -> Parallel<Device, C, ParallelOptions>;
template <class Device, class C>
Parallel(Device, C, BlockingExchange) -> Parallel<Device, C, BlockingExchange>;
template <class Device, class C>
Parallel(Device, C, OverlappedExchange) -> Parallel<Device, C, OverlappedExchange>;
template <class Device, class C, int Ranks>
Parallel(Device, C, ShardedOptimizer<Ranks>) -> Parallel<Device, C, ShardedOptimizer<Ranks>>;

}  // namespace crochet
