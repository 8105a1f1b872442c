// SPDX-License-Identifier: Apache-2.0
// Memory of a device, and pinned memory of the host.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

namespace crochet::cuda {

enum class MemoryKind : bool {
  device,
  pinned  ///< of the host, from which a device copies while the program goes on
};

/// A piece of memory, uninitialised, in bytes. It grows and is kept, and it keeps its device alive. Movable.
template <class Device, MemoryKind Kind>
class OwnedBytes {
 public:
  OwnedBytes() = default;
  OwnedBytes(OwnedBytes&& other) noexcept { swap(other); }
  OwnedBytes& operator=(OwnedBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OwnedBytes() { release(); }

  /// Grows the memory to at least `bytes`; the contents are then lost. Waits for the device before memory is replaced.
  /// Returns whether the address changed. Throws DeviceMemoryError, whose message contains `purpose`.
  bool reserve(const std::shared_ptr<Device>& device, std::size_t bytes, const char* purpose) {
    if (bytes <= capacity_) return false;
    release();
    data_ = static_cast<std::byte*>(Kind == MemoryKind::pinned ? device->allocate_pinned(bytes, purpose)
                                                               : device->allocate(bytes, purpose));
    device_ = device;
    capacity_ = bytes;
    return true;
  }
  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) Kind == MemoryKind::pinned ? device_->release_pinned(data_) : device_->release(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  void swap(OwnedBytes& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

  std::shared_ptr<Device> device_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

template <class Device>
using DeviceBytes = OwnedBytes<Device, MemoryKind::device>;
template <class Device>
using PinnedBytes = OwnedBytes<Device, MemoryKind::pinned>;

}  // namespace crochet::cuda
