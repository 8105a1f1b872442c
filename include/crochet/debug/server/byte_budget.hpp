// SPDX-License-Identifier: Apache-2.0
// ByteBudget: a memory limit shared by several streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace crochet::debug {

/// A limited number of bytes, shared by its users. Thread-safe. Must outlive every BytesTaken.
class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t bytes) : left_(bytes), total_(bytes) {}

  /// Reserves the bytes. Returns false and reserves nothing if fewer are left.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    std::uint64_t left = left_.load(std::memory_order_relaxed);
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void give_back(std::uint64_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t used() const { return total_ - left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> left_;
  std::uint64_t total_;
};

/// The bytes reserved by one owner, released by the destructor.
class BytesTaken {
 public:
  BytesTaken() = default;
  explicit BytesTaken(ByteBudget& budget) : budget_(&budget) {}
  BytesTaken(BytesTaken&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  BytesTaken& operator=(BytesTaken&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BytesTaken() {
    if (budget_ != nullptr) budget_->give_back(bytes_);
  }

  [[nodiscard]] bool take(std::uint64_t bytes) {
    if (!budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  ByteBudget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace crochet::debug
