// SPDX-License-Identifier: Apache-2.0
// LaunchFeeds: what a launch reads in its slot of the ring: the base addresses of each run, then each run's feeds.
#pragma once
#include <cstddef>
#include <memory>

#include <crochet/executor/cuda/feed_layout.hpp>
#include <crochet/executor/cuda/feed_ring.hpp>
#include <crochet/executor/cuda/plan_tables.hpp>

namespace crochet::cuda {

/// T: the tables of the graph.
template <class Device, class T>
class LaunchFeeds {
  static constexpr std::size_t others = static_cast<std::size_t>(Base::placeholders);

 public:
  /// The base addresses of a run.
  static constexpr std::size_t address_count = others + T::placeholder_count;

  /// Starts a slot for at most `most` runs. May wait for the device: FeedRing::begin.
  void begin(const std::shared_ptr<Device>& device, const FeedLayout<T>& layout, std::size_t most) {
    constexpr std::size_t line = 256;
    first_run_ = (most * address_count * sizeof(unsigned char*) + line - 1) / line * line;
    ring_.begin(device, first_run_ + most * layout.bytes);
  }
  /// Copies the feeds of run number `run`.
  template <std::size_t N>
  void add(std::size_t run, const FeedLayout<T>& layout, const std::array<FedBytes, N>& fed) {
    layout.copy(fed, ring_.host() + place_of(run, layout));
    for (std::size_t k = 0; k < T::placeholder_count; ++k) {
      addresses(run)[others + k] = reinterpret_cast<unsigned char*>(device_data(run, layout, k));
    }
  }
  /// Uploads the slot for a launch of `runs`, and returns the addresses that it reads.
  unsigned char* const* upload(Device& device, std::size_t runs, const FeedLayout<T>& layout, std::byte* variables,
                               std::byte* workspace) {
    for (std::size_t run = 0; run < runs; ++run) {
      addresses(run)[static_cast<std::size_t>(Base::variables)] = reinterpret_cast<unsigned char*>(variables);
      addresses(run)[static_cast<std::size_t>(Base::workspace)] = reinterpret_cast<unsigned char*>(workspace);
    }
    ring_.upload(device, place_of(runs, layout));
    return reinterpret_cast<unsigned char* const*>(ring_.device_data());
  }
  /// Behind the launch.
  void end(Device& device) { ring_.end(device); }

  /// A feed of the slot on the device; nullptr if the placeholder is not fed.
  std::byte* device_data(std::size_t run, const FeedLayout<T>& layout, std::size_t placeholder) const {
    const std::int64_t offset = layout.offsets[placeholder];
    return offset < 0 ? nullptr : ring_.device_data() + place_of(run, layout) + offset;
  }
  /// The same on the host.
  const std::byte* host_data(std::size_t run, const FeedLayout<T>& layout, std::size_t placeholder) const {
    const std::int64_t offset = layout.offsets[placeholder];
    return offset < 0 ? nullptr : ring_.host() + place_of(run, layout) + offset;
  }
  /// The memory of the device.
  std::size_t bytes() const { return ring_.bytes(); }

 private:
  std::size_t place_of(std::size_t run, const FeedLayout<T>& layout) const { return first_run_ + run * layout.bytes; }
  unsigned char** addresses(std::size_t run) const {
    return reinterpret_cast<unsigned char**>(ring_.host()) + run * address_count;
  }

  FeedRing<Device> ring_;
  std::size_t first_run_ = 0;  ///< the offset of the first run's feeds
};

}  // namespace crochet::cuda
