// SPDX-License-Identifier: Apache-2.0
// FeedRing: the memory in which feeds travel to the device.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

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

  /// Starts the next slot, with this memory. Waits until the launch that read it is finished.
  void begin(const std::shared_ptr<Device>& device, std::size_t host_bytes, std::size_t device_bytes) {
    at_ = (at_ + 1) % slots;
    Slot& s = slot();
    if (s.used) device->wait(s.read);
    s.used = false;
    s.kept.clear();
    s.host.reserve(device, host_bytes, "the feeds of a launch");
    s.device.reserve(device, device_bytes, "the feeds of a launch");
  }
  std::byte* host() const { return slot().host.data(); }
  std::byte* device_data() const { return slot().device.data(); }
  /// Keeps memory that the launch reads, until the slot is started again.
  void keep(const std::shared_ptr<const void>& owner) {
    auto& kept = slot().kept;
    if (std::find(kept.begin(), kept.end(), owner) == kept.end()) kept.push_back(owner);
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
    std::vector<std::shared_ptr<const void>> kept;
    typename Device::Event read{};
    bool used = false;
  };
  Slot& slot() { return slots_[at_]; }
  const Slot& slot() const { return slots_[at_]; }

  std::array<Slot, slots> slots_;
  std::size_t at_ = 0;
};

}  // namespace crochet::cuda
