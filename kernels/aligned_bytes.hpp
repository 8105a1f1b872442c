// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace crochet::kernel {

/// Memory that starts on a cache line and is not initialised.
class AlignedBytes {
 public:
  static constexpr std::size_t alignment = 64;

  AlignedBytes() = default;
  AlignedBytes(AlignedBytes&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  AlignedBytes& operator=(AlignedBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~AlignedBytes() { std::free(memory_); }

  /// Makes room for at least `bytes`; what was there is lost if it grows. Returns whether it moved.
  bool reserve(std::size_t bytes) {
    if (bytes <= capacity_) return false;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    std::free(memory_);
    capacity_ = 0;
    memory_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    if (memory_ == nullptr) throw std::bad_alloc();
    capacity_ = rounded;
    return true;
  }
  std::byte* data() const { return memory_; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace crochet::kernel
