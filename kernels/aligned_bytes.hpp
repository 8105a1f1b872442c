// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace crochet::kernel {

/// Memory that starts on a cache line and is not initialised.
class AlignedBytes {
 public:
  static constexpr std::size_t alignment = 64;

  AlignedBytes() = default;
  /// Makes room for at least `bytes`; what was there is lost if it grows. Returns whether it moved.
  bool reserve(std::size_t bytes) {
    if (bytes <= capacity_) return false;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (!memory_) throw std::bad_alloc();
    capacity_ = rounded;
    return true;
  }
  std::byte* data() const { return memory_.get(); }
  std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace crochet::kernel
