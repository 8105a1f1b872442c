// SPDX-License-Identifier: Apache-2.0
// Memory of a device, and pinned memory of the host.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

namespace crochet::cuda {

/// Memory of a device, uninitialised. Grows and is kept. It keeps its device alive.
template <class Device>
class DeviceBytes {
 public:
  DeviceBytes() = default;
  DeviceBytes(DeviceBytes&& other) noexcept { swap(other); }
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBytes() { release(); }

  /// Grows the memory to at least `bytes`; the contents are then lost. Waits for the device before memory is replaced.
  /// Returns whether the address changed. Throws DeviceMemoryError.
  bool reserve(const std::shared_ptr<Device>& device, std::size_t bytes, const char* purpose) {
    if (bytes <= capacity_) return false;
    release();
    data_ = static_cast<std::byte*>(device->allocate(bytes, purpose));
    device_ = device;
    capacity_ = bytes;
    return true;
  }
  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) device_->release(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  void swap(DeviceBytes& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

  std::shared_ptr<Device> device_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Memory of the host from which a device copies on its own.
template <class Device>
class PinnedBytes {
 public:
  PinnedBytes() = default;
  PinnedBytes(PinnedBytes&& other) noexcept { swap(other); }
  PinnedBytes& operator=(PinnedBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedBytes() { release(); }

  bool reserve(const std::shared_ptr<Device>& device, std::size_t bytes, const char* purpose) {
    if (bytes <= capacity_) return false;
    release();
    data_ = static_cast<std::byte*>(device->allocate_pinned(bytes, purpose));
    device_ = device;
    capacity_ = bytes;
    return true;
  }
  std::byte* data() const { return data_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) device_->release_pinned(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  void swap(PinnedBytes& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

  std::shared_ptr<Device> device_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace crochet::cuda
