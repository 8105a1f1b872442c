// SPDX-License-Identifier: Apache-2.0
// ParallelExecutor: a model on one of several ranks.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <crochet/graph/model_check.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/divided_model.hpp>
#include <crochet/ranks/equal_ranks.hpp>
#include <crochet/ranks/model_of_rank.hpp>
#include <crochet/ranks/rank_group.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

/// The executor of one rank. Its interface is that of the device's executor; `ranks()` is what the ranks have in
/// common. Divided: the detail::DividedModel.
template <class Device, class Divided, Communicator C, class... Hooks>
class ParallelExecutor : public detail::ModelOfRank<detail::ExecutorOfRank<Device, Divided, Hooks...>, C> {
  using Base = detail::ModelOfRank<detail::ExecutorOfRank<Device, Divided, Hooks...>, C>;

 public:
  /// Without what the ranks have in common: for hooks that are called on one rank.
  using OfOneRank = Base;

  static constexpr bool state_differs_between_ranks = Base::has_parts;

  /// The executor of the graph that hooks have extended.
  template <class... H>
  using extended_by =
      std::conditional_t<detail::Builds<Divided, Hooks..., H..., detail::ShareOverRanks>,
                         ParallelExecutor<Device, Divided, C, Hooks..., H...>,
                         UnusableExecutor<detail::BrokenExtension<Divided, Hooks..., H..., detail::ShareOverRanks>>>;

  /// Hooks that state RunsOn::chief run on rank 0 only.
  template <class H>
  using placed_hook = std::conditional_t<runs_on<H> == RunsOn::chief, OnChief<H>, H>;

  /// Collective. Throws RanksDisagreeError if the limit of threads or the seed differs between ranks.
  ParallelExecutor(const Device& device, C communicator, const RankGroupOptions& options)
      : ParallelExecutor(device, std::make_unique<RankGroup<C>>(std::move(communicator), options)) {}
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... Fewer>
  requires(sizeof...(Fewer) <
           sizeof...(Hooks)) explicit ParallelExecutor(ParallelExecutor<Device, Divided, C, Fewer...>&& plain)
      : Base(std::move(plain.owned_group()),
             [&](kernel::Exchange* ranks) {
               if constexpr (requires { plain.device_options().settings_of_rank(ranks, plain.device()); }) {
                 return plain.device_options().settings_of_rank(ranks, plain.device());
               } else {
                 return plain.device_options().settings_of_rank(ranks);
               }
             }),
        device_(plain.device_options()) {}

  [[nodiscard]] RankGroup<C>& ranks() { return *this->group; }
  /// What Parallel was given.
  [[nodiscard]] const Device& device_options() const { return device_; }
  /// For executors of extended graphs.
  [[nodiscard]] std::unique_ptr<RankGroup<C>>& owned_group() { return this->group; }

 private:
  ParallelExecutor(const Device& device, std::unique_ptr<RankGroup<C>> owned)
      : Base(std::move(owned), [&](kernel::Exchange* ranks) { return device.settings_of_rank(ranks); }),
        device_(device) {
    int threads = 0;  // a GPU has no limit
    if constexpr (requires { this->threads(); }) threads = this->threads();
    detail::require_equal_options(ranks(), threads, this->settings().seed);
  }

  Device device_;
};

}  // namespace crochet
