// SPDX-License-Identifier: Apache-2.0
// SumsOfGpus: the exchanges of a run by the GPUs of the ranks themselves, in the order of their streams.
#pragma once
#include <cstddef>
#include <cstdint>

#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet::cuda {

/// The addresses of a run's values on the device. T: the tables of the graph.
template <class Device, class T>
class PlacesOfRun {
 public:
  PlacesOfRun(std::byte* variables, const WorkspaceMemory<Device, T>& memory)
      : variables_(variables), memory_(memory) {}

  [[nodiscard]] std::byte* at(const Place& place) const {
    constexpr auto others = static_cast<std::int32_t>(Base::placeholders);
    if (place.base == static_cast<std::int32_t>(Base::variables)) return variables_ + place.offset;
    if (place.base == static_cast<std::int32_t>(Base::workspace)) return memory_.workspace.data() + place.offset;
    return const_cast<std::byte*>(memory_.feeds.device_data(0, static_cast<std::size_t>(place.base - others)));
  }

 private:
  std::byte* variables_;
  const WorkspaceMemory<Device, T>& memory_;
};

/// Nothing waits. Exchanges that overlap with the steps have a stream beside that of the steps.
template <class Device, class T>
struct SumsOfGpus {
  Device& device;
  kernel::Exchange& ranks;
  WorkspaceMemory<Device, T>& memory;
  const PlacesOfRun<Device, T>& places;

  /// begun: where the exchange began that `e` ends.
  void exchange(const PlannedExchange& e, const BoundExchange& bound, const BoundExchange& begun) const {
    if (e.ends) {
      device.order(Stream::downloads, Stream::compute);
      device.copy(places.at(bound.to), memory.summed.data() + begun.sum, bound.bytes);
    } else if (e.begins) {
      device.order(Stream::compute, Stream::downloads);
      sum(e, bound, memory.summed.data() + bound.sum, Stream::downloads);
    } else {
      sum(e, bound, places.at(bound.to), Stream::compute);
    }
  }

 private:
  void sum(const PlannedExchange& e, const BoundExchange& bound, std::byte* to, Stream which) const {
    device.with_stream(which, [&](void* stream) {
      ranks.reduce_on_device(places.at(bound.from), to, bound.elements, e.type, e.how(), stream);
    });
  }
};

}  // namespace crochet::cuda
