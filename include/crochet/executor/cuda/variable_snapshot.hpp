// SPDX-License-Identifier: Apache-2.0
// VariableSnapshot: the variables behind the queued runs, on their way to the host while the loop goes on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/executor/cuda/value_watch.hpp>

namespace crochet::cuda {

/// The device copies the variables to memory of its own, in the order of the launches, and from there to pinned memory
/// of the host, in another stream. Neither the loop nor the launches wait for the second copy. T: the tables of the
/// graph.
template <class Device, class T>
class VariableSnapshot {
  using Watch = ValueWatch<Device, T>;
  static constexpr std::size_t flags_at = (DeviceVariables<Device, T>::bytes + 63) / 64 * 64;
  static constexpr std::size_t bytes = flags_at + Watch::flag_bytes;

 public:
  /// Queues both copies. Waits only for a copy that is still under way in this memory.
  void take(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables, const Watch& watch) {
    if (device_ != nullptr) device_->wait(copied_);
    device_ = device;
    copy_.reserve(device, bytes, "a copy of the variables");
    host_.reserve(device, bytes, "a copy of the variables");
    variables.update_device(device);
    device->copy(copy_.data(), variables.data(), variables.bytes);
    watch.copy_flags(*device, copy_.data() + flags_at);
    rules_ = watch.rules();
    device->order(Stream::compute, Stream::downloads);
    device->download_later(host_.data(), copy_.data(), bytes, Stream::downloads);
    copied_ = device->record(Stream::downloads);
  }

  /// Waits for the copy. Any thread. Throws DeviceError, and NanLossError if a run before had failed by a FiniteRule.
  void wait() const {
    device_->wait(copied_);
    for (std::size_t flag = 0; flag < rules_.size(); ++flag) {
      std::int32_t run = 0;
      std::memcpy(&run, host_.data() + flags_at + flag * sizeof run, sizeof run);
      if (!rules_[flag].fails || run == 0) continue;
      throw NanLossError("crochet: " + std::string(T::fetchable[rules_[flag].name]) +
                         " is not finite, so no checkpoint is made");
    }
  }
  /// The block of the variables. It has their values behind wait().
  const std::byte* data() const { return host_.data(); }

 private:
  std::shared_ptr<Device> device_;
  DeviceBytes<Device> copy_;
  PinnedBytes<Device> host_;
  typename Device::Event copied_{};
  std::vector<WatchedRule> rules_;
};

}  // namespace crochet::cuda
