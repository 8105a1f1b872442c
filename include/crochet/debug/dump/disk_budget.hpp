// SPDX-License-Identifier: Apache-2.0
// DiskBudget: the limit for the bytes of tensors that all dumps of a process write.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace crochet::debug {

/// Counts the bytes of dumped tensors against a limit. Counted are elements, not file sizes; graphs and metadata are
/// free. The limit is the environment variable TFDBG_DISK_BYTES_LIMIT, in bytes; 100 GiB if it is unset or empty.
/// Invalid text is a limit of 0. A limit of 0 rejects every tensor with elements, and is read again at each call.
/// Thread-safe.
class DiskBudget {
 public:
  /// `read_limit` returns the text of the variable, or nullptr; tests pass their own.
  explicit DiskBudget(std::function<const char*()> read_limit = [] { return std::getenv("TFDBG_DISK_BYTES_LIMIT"); })
      : read_limit_(std::move(read_limit)) {}

  /// Reserves the bytes and returns true if the total stays below the limit; 0 bytes always succeed.
  bool take(std::uint64_t bytes) {
    if (bytes == 0) return true;
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) limit_ = parsed(read_limit_());
    if (used_ >= limit_ || bytes >= limit_ - used_) return false;
    used_ += bytes;
    return true;
  }
  /// Releases bytes of removed files.
  void give_back(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes < used_ ? bytes : used_;
  }
  /// Sets the used bytes to 0.
  void reset() {
    const std::lock_guard lock(mutex_);
    used_ = 0;
  }
  [[nodiscard]] std::uint64_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  [[nodiscard]] std::uint64_t limit() const {
    const std::lock_guard lock(mutex_);
    return limit_ != 0 ? limit_ : parsed(read_limit_());
  }

 private:
  static std::uint64_t parsed(const char* variable) {
    std::string_view text = variable != nullptr ? variable : "";
    if (text.empty()) return std::uint64_t{100} << 30;
    const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    std::uint64_t number = 0;
    for (const char c : text) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (c < '0' || c > '9' || number > (UINT64_MAX - digit) / 10) return 0;
      number = number * 10 + digit;
    }
    return number;
  }

  std::function<const char*()> read_limit_;
  mutable std::mutex mutex_;
  std::uint64_t limit_ = 0, used_ = 0;
};

/// The budget of this process, the default of all hooks and servers.
inline DiskBudget& disk_budget() {
  static DiskBudget budget;
  return budget;
}

}  // namespace crochet::debug
