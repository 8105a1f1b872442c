// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Uninitialised memory that starts on a cache line.
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

  /// Grows the memory to at least `bytes`. The contents are lost if it grows. Returns whether the address changed.
  /// Throws ResourceExhaustedError if there is no memory; the message has the number of bytes and `purpose`. The object
  /// is then empty.
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
    // else it overflowed
    if (rounded >= bytes) memory_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
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

}  // namespace crochet::kernel::CROCHET_ISA
