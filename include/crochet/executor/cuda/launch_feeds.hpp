// SPDX-License-Identifier: Apache-2.0
// LaunchFeeds: what a launch reads in its slot of the ring: the base addresses of each run, the gathers of rows, each
// run's feeds; behind them, on the device only, each run's gathered rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <crochet/executor/cuda/feed_layout.hpp>
#include <crochet/executor/cuda/feed_ring.hpp>
#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/kernels/cuda/gather_rows.hpp>

namespace crochet::cuda {

/// T: the tables of the graph.
template <class Device, class T>
class LaunchFeeds {
  static constexpr std::size_t others = static_cast<std::size_t>(Base::placeholders);
  using Layout = FeedLayout<T>;

 public:
  /// The base addresses of a run.
  static constexpr std::size_t address_count = others + T::placeholder_count;

  /// The memory that a run takes in a launch.
  static std::size_t bytes_of_run(const Layout& layout) {
    return address_count * sizeof(unsigned char*) + layout.gathers * sizeof(RowGather) + layout.copied_bytes +
           layout.gathered_bytes;
  }
  /// Starts a slot for at most `most` runs. May wait for the device: FeedRing::begin.
  void begin(const std::shared_ptr<Device>& device, const Layout& layout, std::size_t most) {
    const auto lines = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    gathers_at_ = lines(most * address_count * sizeof(unsigned char*));
    copied_at_ = gathers_at_ + lines(most * layout.gathers * sizeof(RowGather));
    gathered_at_ = copied_at_ + most * layout.copied_bytes;
    gathers_ = 0;
    ring_.begin(device, gathered_at_, gathered_at_ + most * layout.gathered_bytes);
  }
  /// Adds the feeds of run number `run`.
  template <std::size_t N>
  void add(std::size_t run, const Layout& layout, const std::array<FedValue, N>& fed) {
    for (const FedValue& f : fed) {
      const FeedPlace& place = layout.places[f.placeholder];
      const std::size_t copied = copied_at_ + run * layout.copied_bytes + place.copied;
      unsigned char*& address = addresses(run)[others + f.placeholder];
      if (f.kind == FeedKind::copied) {
        address = copy(f.data, f.bytes, copied);
      } else if (f.kind == FeedKind::in_place) {
        address = static_cast<unsigned char*>(const_cast<void*>(f.data));
      } else {
        address = device_address(gathered_at_ + run * layout.gathered_bytes + place.gathered);
        gather(f, copy(f.indices.data(), f.indices.size_bytes(), copied), address);
      }
      if (f.owner != nullptr) ring_.keep(f.owner);
    }
  }
  /// Uploads the slot for a launch of `runs`, and returns the addresses that it reads.
  unsigned char* const* upload(Device& device, std::size_t runs, const Layout& layout, std::byte* variables,
                               std::byte* workspace) {
    for (std::size_t run = 0; run < runs; ++run) {
      addresses(run)[static_cast<std::size_t>(Base::variables)] = reinterpret_cast<unsigned char*>(variables);
      addresses(run)[static_cast<std::size_t>(Base::workspace)] = reinterpret_cast<unsigned char*>(workspace);
    }
    device.upload_pinned(ring_.device_data(), ring_.host(), copied_at_ + runs * layout.copied_bytes);
    if (gathers_ > 0) {
      device.gather(reinterpret_cast<const RowGather*>(device_address(gathers_at_)), static_cast<int>(gathers_));
    }
    device.order(Stream::copies, Stream::compute);
    return reinterpret_cast<unsigned char* const*>(ring_.device_data());
  }
  /// Behind the launch.
  void end(Device& device) { ring_.end(device); }

  /// A feed of the slot on the device.
  const std::byte* device_data(std::size_t run, std::size_t placeholder) const {
    return reinterpret_cast<const std::byte*>(addresses(run)[others + placeholder]);
  }
  /// A feed that was copied from the host, there.
  const std::byte* host_data(std::size_t run, const Layout& layout, std::size_t placeholder) const {
    return ring_.host() + copied_at_ + run * layout.copied_bytes + layout.places[placeholder].copied;
  }
  /// The memory of the device.
  std::size_t bytes() const { return ring_.bytes(); }

 private:
  unsigned char** addresses(std::size_t run) const {
    return reinterpret_cast<unsigned char**>(ring_.host()) + run * address_count;
  }
  unsigned char* device_address(std::size_t offset) const {
    return reinterpret_cast<unsigned char*>(ring_.device_data() + offset);
  }
  /// Copies to the slot on the host. Returns the address that it will have on the device.
  unsigned char* copy(const void* from, std::size_t bytes, std::size_t offset) const {
    if (bytes > 0) std::memcpy(ring_.host() + offset, from, bytes);
    return device_address(offset);
  }
  void gather(const FedValue& f, const unsigned char* indices, unsigned char* to) {
    const auto rows = static_cast<std::int32_t>(f.indices.size());
    const RowGather g{static_cast<const unsigned char*>(f.data), reinterpret_cast<const std::int32_t*>(indices), to,
                      rows == 0 ? 0 : static_cast<std::int64_t>(f.bytes) / rows, rows};
    std::memcpy(ring_.host() + gathers_at_ + gathers_++ * sizeof g, &g, sizeof g);
  }

  FeedRing<Device> ring_;
  std::size_t gathers_at_ = 0, copied_at_ = 0, gathered_at_ = 0;  ///< offsets in the slot
  std::size_t gathers_ = 0;
};

}  // namespace crochet::cuda
