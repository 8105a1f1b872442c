// SPDX-License-Identifier: Apache-2.0
// FeedRing: the memory in which feeds travel to the device.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/stream.hpp>

namespace crochet::cuda {

/// A ring of slots, each with the feeds of one launch: pinned memory that the host fills, and memory of the device. A
/// slot is uploaded on the stream of copies, so its copy overlaps the launch before it. It is filled again when the
/// launch that read it is finished.
template <class Device>
class FeedRing {
 public:
  /// The launches that may be under way, before the host waits for the first of them.
  static constexpr std::size_t slots = 3;

  /// Starts the next slot, for `bytes`. Waits until the launch that read it is finished.
  void begin(const std::shared_ptr<Device>& device, std::size_t bytes) {
    at_ = (at_ + 1) % slots;
    Slot& s = slot();
    if (s.used) device->wait(s.read);
    s.used = false;
    s.host.reserve(device, bytes, "the feeds of a launch");
    s.device.reserve(device, bytes, "the feeds of a launch");
  }
  std::byte* host() const { return slot().host.data(); }
  std::byte* device_data() const { return slot().device.data(); }
  /// Copies the slot's first `bytes`; what is launched from here on reads them.
  void upload(Device& device, std::size_t bytes) {
    device.upload_pinned(device_data(), host(), bytes);
    device.order(Stream::copies, Stream::compute);
  }
  /// Behind the launch that reads the slot.
  void end(Device& device) {
    slot().read = device.record(Stream::compute);
    slot().used = true;
  }
  /// The memory of the device.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Slot& s : slots_) sum += s.device.capacity();
    return sum;
  }

 private:
  struct Slot {
    PinnedBytes<Device> host;
    DeviceBytes<Device> device;
    typename Device::Event read{};
    bool used = false;
  };
  Slot& slot() { return slots_[at_]; }
  const Slot& slot() const { return slots_[at_]; }

  std::array<Slot, slots> slots_;
  std::size_t at_ = 0;
};

}  // namespace crochet::cuda
