// SPDX-License-Identifier: Apache-2.0
// PlanLaunch: from the queued runs of a plan to one launch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/launch_feeds.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/rank_exchanges.hpp>
#include <crochet/executor/cuda/settings.hpp>
#include <crochet/executor/cuda/step_code.hpp>
#include <crochet/executor/cuda/value_watch.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet::cuda {

template <class Device, class T>
struct LaunchContext {
  const std::shared_ptr<Device>& device;
  DeviceVariables<Device, T>& variables;
  ValueWatch<Device, T>& watch;
  CudaMode mode;
  kernel::Exchange* ranks;
};

/// T: the tables of the graph, P: the plan of the demand D.
template <class Device, class T, class P, class D>
struct PlanLaunch {
  using Runs = QueuedRuns<Device, T>;

  static void launch(const LaunchContext<Device, T>& context, const Runs& runs) {
    Launch launch = prepare(context.device, context.variables, runs, context.ranks);
    if constexpr (cpu::ExchangesOf<T, P>::any) {
      launch_with_ranks(context, launch, runs);
    } else {
      context.watch.template prepare<P, D>(context.device, launch, runs);
      queue(*context.device, launch, context.mode);
      runs.memory->feeds.end(*context.device);
      context.watch.launched(context.device, launch, runs);
    }
  }

  /// All that may fail on this rank alone has been done when the run begins.
  static void launch_with_ranks(const LaunchContext<Device, T>& context, Launch& launch, const Runs& runs) {
    RankExchanges<Device, T, P> ranks(context.device, *context.ranks, context.variables.data(), *runs.memory,
                                      *runs.plan);
    try {
      ranks.template begin<P>(launch, runs.dims);
    } catch (...) {
      runs.memory->feeds.end(*context.device);
      throw;
    }
    ranks.run(launch);
    runs.memory->feeds.end(*context.device);
  }

  static void queue(Device& device, const Launch& launch, CudaMode mode) {
    if constexpr (Device::has_graphs) {
      if (mode == CudaMode::graph) return device.template launch_graphs<PlanCode<P>>(launch);
    }
    device.template launch<PlanCode<P>>(launch);
  }

  /// Uploads feeds and addresses. ranks: null on one machine.
  static Launch prepare(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables, const Runs& runs,
                        const kernel::Exchange* ranks) {
    auto& memory = *runs.memory;
    variables.settle_device(device);
    Launch launch{runs.plan->tables};
    launch.bases = memory.feeds.upload(*device, static_cast<std::size_t>(runs.times), runs.layout, variables.data(),
                                       memory.workspace.data());
    launch.base_count = static_cast<std::int32_t>(LaunchFeeds<Device, T>::address_count);
    launch.times = runs.times;
    launch.tables.first_row = ranks == nullptr ? 0 : ranks->first_row();
    launch.tables.scratch = reinterpret_cast<unsigned char*>(memory.scratch.data());
    launch.tables.tickets = reinterpret_cast<std::uint32_t*>(memory.tickets.data());
    return launch;
  }
};

}  // namespace crochet::cuda
