// SPDX-License-Identifier: Apache-2.0
// FeedRing: the memory in which feeds travel to the device.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include <crochet/executor/cuda/memory.hpp>

namespace crochet::cuda {

/// Copies of feeds for the runs of one launch. Two halves: one is filled while the device reads the other.
template <class Device>
class FeedRing {
 public:
  /// Starts a half for runs of `bytes` each. Waits until the device has read what was there.
  void begin(const std::shared_ptr<Device>& device, std::size_t bytes, std::size_t runs) {
    half_ = 1 - half_;
    Half& h = halves_[half_];
    if (h.used) device->wait(h.read);
    h.used = false;
    h.host.reserve(device, bytes * runs, "the feeds of a launch");
    h.device.reserve(device, bytes * runs, "the feeds of a launch");
  }
  /// The memory of the device.
  std::size_t bytes() const { return halves_[0].device.capacity() + halves_[1].device.capacity(); }
  std::byte* host() const { return halves_[half_].host.data(); }
  std::byte* device_data() const { return halves_[half_].device.data(); }
  void upload(Device& device, std::size_t bytes) {
    if (bytes > 0) device.upload_pinned(device_data(), host(), bytes);
  }
  /// Behind the launch that reads this half.
  void end(Device& device) {
    halves_[half_].read = device.record();
    halves_[half_].used = true;
  }

 private:
  struct Half {
    PinnedBytes<Device> host;
    DeviceBytes<Device> device;
    typename Device::Event read{};
    bool used = false;
  };
  std::array<Half, 2> halves_;
  std::size_t half_ = 0;
};

}  // namespace crochet::cuda
