// SPDX-License-Identifier: Apache-2.0
// Parallel: a device on each of several ranks, which compute a batch together, or a step function on each of them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/train/share_over_ranks.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/parallel_step.hpp>
#include <crochet/ranks/rank_group.hpp>
#include <crochet/ranks/wire.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

namespace detail {

/// `Model` on one of several ranks, or in fixed shards.
template <class Model, bool InShards, bool Overlaps>
struct DividedModel {
  static constexpr bool in_shards = InShards;
  static constexpr void define(GraphBuilder& g) {
    g.divide_batch(in_shards, Overlaps);
    Model::define(g);
  }
};
/// The reason why the model cannot be divided, as a std::type_identity of a crochet::error. Divided: a DividedModel.
template <class Divided>
constexpr auto dividing_reason() {
  if constexpr (Builds<Divided>) {
    constexpr auto build = [](auto use) {
      GraphBuilder g;
      Divided::define(g);
      return use(variable_that_differs(g));
    };
    constexpr std::size_t length = build([](std::string_view name) { return name.size(); });
    if constexpr (length > 0) {
      constexpr auto name = build([](std::string_view n) { return FixedString<length + 1>(n); });
      return std::type_identity<error::this_variable_would_differ_between_ranks<spelt<Name<name>>>>{};
    } else {
      return std::type_identity<error::none>{};
    }
  } else {
    return std::type_identity<error::none>{};  // the mistake has a line of its own
  }
}

/// The last extension of its graph.
struct ShareOverRanks {
  static constexpr void extend_graph(GraphBuilder& g) {
    share_named_scalars(g);
    check_assignments(g);
  }
};

/// Device: Cpu or Cuda. It compiles a model of one of several ranks, with `executor_of_rank<Model, Extensions...>`, and
/// states with `has_shards` whether a rank's rows can be divided into fixed shards.
template <class Device, class Divided, class... Hooks>
using ExecutorOfRank = typename Device::template executor_of_rank<Divided, Hooks..., ShareOverRanks>;

}  // namespace detail

/// The executor of one rank. Its interface is that of the device's executor; `ranks()` is what the ranks have in
/// common. Divided: the detail::DividedModel.
template <class Device, class Divided, Communicator C, class... Hooks>
class ParallelExecutor : detail::OwnedGroup<C>, public detail::ExecutorOfRank<Device, Divided, Hooks...> {
  using Base = detail::ExecutorOfRank<Device, Divided, Hooks...>;

 public:
  /// Without what the ranks have in common: for hooks that are called on one rank.
  using OfOneRank = Base;

  /// The executor of the graph that hooks have extended.
  template <class... H>
  using extended_by =
      std::conditional_t<detail::Builds<Divided, Hooks..., H..., detail::ShareOverRanks>,
                         ParallelExecutor<Device, Divided, C, Hooks..., H...>,
                         UnusableExecutor<detail::BrokenExtension<Divided, Hooks..., H..., detail::ShareOverRanks>>>;

  /// Hooks that state RunsOn::chief run on rank 0 only.
  template <class H>
  using placed_hook = std::conditional_t<runs_on<H> == RunsOn::chief, OnChief<H>, H>;

  ParallelExecutor(const Device& device, C communicator, const RankGroupOptions& options)
      : ParallelExecutor(device, std::make_unique<RankGroup<C>>(std::move(communicator), options)) {}
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... Fewer>
  requires(sizeof...(Fewer) <
           sizeof...(Hooks)) explicit ParallelExecutor(ParallelExecutor<Device, Divided, C, Fewer...>&& plain)
      : ParallelExecutor(plain.device(), std::move(plain.owned_group())) {}

  [[nodiscard]] RankGroup<C>& ranks() { return *this->group; }
  [[nodiscard]] const Device& device() const { return device_; }
  /// For executors of extended graphs.
  [[nodiscard]] std::unique_ptr<RankGroup<C>>& owned_group() { return this->group; }

 private:
  ParallelExecutor(const Device& device, std::unique_ptr<RankGroup<C>> owned)
      : detail::OwnedGroup<C>{std::move(owned)}, Base(device.settings_of_rank(this->group.get())), device_(device) {}

  Device device_;
};

/// How ranks divide a batch. `Parallel{device, communicator, {.shards = 8}}`: the same bits on 1, 2, 4 and 8 ranks.
struct ParallelOptions {
  /// The number of parts of each batch, whatever the number of ranks; it is that number times a power of two. Each is
  /// computed by itself, so a run on K / N of them costs as much as so many runs with smaller batches. The state of a
  /// stopped run may go on with another number of ranks. See FixedShards.
  int shards = 0;
};
/// The default. `Parallel{device, communicator, BlockingExchange{.compression = Compression::bfloat16}}`: each rank
/// computes its rows at once, and waits for each exchange where the plan has it.
struct BlockingExchange {
  Compression compression = Compression::none;  ///< of gradients
};
/// `Parallel{device, communicator, OverlappedExchange{}}`: gradients are exchanged while those of earlier layers are
/// computed. The same bits as BlockingExchange. It pays where the network moves data by itself, between machines; ranks
/// on one machine move it by their processors, and lose a little.
/// Memory: the gradients on the wire, once or twice more. The communicator is a NonblockingCommunicator.
struct OverlappedExchange {
  Compression compression = Compression::none;  ///< of gradients
};

namespace detail {
constexpr RankGroupOptions group_options(const ParallelOptions& o) { return {.shards = o.shards}; }
constexpr RankGroupOptions group_options(const BlockingExchange& o) { return {.compression = o.compression}; }
constexpr RankGroupOptions group_options(const OverlappedExchange& o) {
  return {.compression = o.compression, .overlaps = true};
}

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

  /// Throws LogicError if ParallelOptions::shards does not fit the number of ranks.
  template <class Model>
  auto compile() const {
    constexpr bool in_shards = std::is_same_v<Options, ParallelOptions>;
    constexpr bool overlaps = std::is_same_v<Options, OverlappedExchange>;
    static_assert(
        !overlaps || NonblockingCommunicator<C> || std::is_same_v<C, Solo>,
        "crochet: OverlappedExchange needs a communicator whose calls can return at once: give it the members of "
        "NonblockingCommunicator (ranks/communicator.hpp), or use BlockingExchange");
    static_assert(!in_shards || Device::has_shards,
                  "crochet: ParallelOptions::shards is for Cpu: a GPU's sums have an order of their own. Leave out the "
                  "options, or use Cpu");
    using Divided = detail::DividedModel<Model, in_shards, overlaps>;
    using Reason = typename decltype(detail::dividing_reason<Divided>())::type;
    static_assert(model_is_usable<Reason>, "crochet: crochet::error says why");
    if constexpr ((std::is_same_v<C, Solo> && !in_shards) || !detail::Builds<Model>) {
      return device.template compile<Model>();
    } else if constexpr (detail::Builds<Divided, detail::ShareOverRanks>) {
      return ParallelExecutor<Device, Divided, C>(device, communicator, detail::group_options(options));
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

}  // namespace crochet
