// SPDX-License-Identifier: Apache-2.0
// The variables of an executor on a device, and their copy on the host. Each is copied to the other side only when
// that side needs it.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/plan/variables.hpp>

namespace crochet::cuda {

/// T: the tables of the graph. Movable.
template <class Device, class T>
class DeviceVariables {
 public:
  /// Before a launch of plans that read or write variables: the device has the current values from here on.
  void settle_device(const std::shared_ptr<Device>& device) {
    block_.reserve(device, bytes, "the variables of a model");
    if (newer_ == Side::host) device->upload(block_.data(), host_.data(), bytes);
    newer_ = Side::device;
  }
  /// The device has the current values, and the host's may still be written: spans of write() stay valid.
  void update_device(const std::shared_ptr<Device>& device) {
    const bool may_change = newer_ == Side::host;
    settle_device(device);
    if (may_change) newer_ = Side::host;
  }
  /// Copies to the host if the device may have changed a variable. Waits for the device.
  cpu::Variables<T>& read(Device& device) {
    if (newer_ == Side::device) device.download(host_.data(), block_.data(), bytes);
    if (newer_ == Side::device) newer_ = Side::same;
    return host_;
  }
  /// Copies one variable to the host if the device may have changed it. Waits for the device then.
  void read(Device& device, std::size_t index) {
    const cpu::VariableInfo& v = T::variables[index];
    const std::size_t size = static_cast<std::size_t>(v.size) * size_of(v.dtype);
    if (newer_ == Side::device) device.download(host_.data() + v.offset, block_.data() + v.offset, size);
  }
  /// As read(), to be written.
  cpu::Variables<T>& write(Device& device) {
    read(device);
    newer_ = Side::host;
    return host_;
  }
  /// To be overwritten as a whole.
  cpu::Variables<T>& overwrite() {
    newer_ = Side::host;
    return host_;
  }
  /// The host's copy, for the flags of variables with values.
  cpu::Variables<T>& host() { return host_; }
  const cpu::Variables<T>& host() const { return host_; }

  std::byte* data() const { return block_.data(); }
  /// Whether the host has values that the device does not have yet.
  bool written() const { return newer_ == Side::host; }

  static constexpr std::size_t bytes = T::offsets.back() + 1;

 private:
  enum class Side : std::uint8_t { host, device, same };

  cpu::Variables<T> host_;
  DeviceBytes<Device> block_;
  Side newer_ = Side::host;
};

}  // namespace crochet::cuda
