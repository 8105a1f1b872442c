// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>

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

  /// Makes room for at least `bytes`; what was there is lost if it grows. Returns whether it moved. Throws
  /// ResourceExhaustedError, which says how many bytes were requested and for what, if there is no memory; then it
  /// holds nothing.
  bool reserve(std::size_t bytes, const char* purpose = "tensors") {
    if (bytes <= capacity_) return false;
    grow(bytes, purpose);
    return true;
  }
  std::byte* data() const { return memory_; }
  std::size_t capacity() const { return capacity_; }

 private:
  CROCHET_COLD void grow(std::size_t bytes, const char* purpose) {
    std::free(memory_);
    memory_ = nullptr;
    capacity_ = 0;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded >= bytes) memory_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));  // else it wrapped
    if (memory_ == nullptr) {
      throw ResourceExhaustedError(
          crochet::detail::message({"crochet: there is no memory for ", purpose, ": ", static_cast<std::int64_t>(bytes),
                                    " bytes were requested"}));
    }
    capacity_ = rounded;
  }

  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace crochet::kernel
