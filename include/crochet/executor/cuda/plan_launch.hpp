// SPDX-License-Identifier: Apache-2.0
// PlanLaunch: from the queued runs of a plan to one launch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/step_code.hpp>

namespace crochet::cuda {

/// T: the tables of the graph, P: the plan.
template <class Device, class T, class P>
struct PlanLaunch {
  using Runs = QueuedRuns<Device, T>;

  static void launch(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables, const Runs& runs) {
    const Launch launch = prepare(device, variables, runs);
    device->template launch<PlanCode<P>>(launch);
    runs.memory->feeds.end(*device);
  }

  /// Uploads feeds and addresses.
  static Launch prepare(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables,
                        const Runs& runs) {
    auto& memory = *runs.memory;
    variables.settle_device(device);
    constexpr std::size_t others = static_cast<std::size_t>(Base::placeholders);
    std::array<BaseAddress, others + T::placeholder_count> bases{};
    bases[static_cast<std::size_t>(Base::variables)] = {reinterpret_cast<unsigned char*>(variables.data()), 0};
    bases[static_cast<std::size_t>(Base::workspace)] = {reinterpret_cast<unsigned char*>(memory.workspace.data()), 0};
    for (std::size_t k = 0; k < T::placeholder_count; ++k) {
      if (runs.layout.offsets[k] < 0) continue;
      std::byte* const at = memory.feeds.device_data() + runs.layout.offsets[k];
      bases[others + k] = {reinterpret_cast<unsigned char*>(at), static_cast<std::int64_t>(runs.layout.bytes)};
    }
    memory.bases.reserve(device, sizeof bases, "the addresses of a launch");
    device->upload(memory.bases.data(), bases.data(), sizeof bases);
    memory.feeds.upload(*device, runs.layout.bytes * static_cast<std::size_t>(runs.times));
    Launch launch{runs.plan->tables, reinterpret_cast<const BaseAddress*>(memory.bases.data()), runs.times};
    launch.tables.scratch = reinterpret_cast<unsigned char*>(memory.scratch.data());
    launch.tables.tickets = reinterpret_cast<std::uint32_t*>(memory.tickets.data());
    return launch;
  }
};

}  // namespace crochet::cuda
