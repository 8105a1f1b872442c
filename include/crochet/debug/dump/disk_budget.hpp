// SPDX-License-Identifier: Apache-2.0
// DiskBudget: how many bytes of tensors all dumps of a program may write.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace crochet::debug {

/// Counts the bytes of dumped tensors (of their elements, not of files; graphs and metadata are free) against a limit:
/// the environment variable TFDBG_DISK_BYTES_LIMIT, in bytes; 100 GiB if it is not set or empty. Text that is no number
/// is a limit of 0, as 0 is, which refuses every tensor that has elements, and is read again each time. Any thread.
class DiskBudget {
 public:
  /// `read_limit` gives the text of the variable, or nullptr; a test gives its own.
  explicit DiskBudget(std::function<const char*()> read_limit = [] { return std::getenv("TFDBG_DISK_BYTES_LIMIT"); })
      : read_limit_(std::move(read_limit)) {}

  /// Takes so many bytes if less than the limit is in use afterwards; nothing at all is always taken.
  bool take(std::uint64_t bytes) {
    if (bytes == 0) return true;
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) limit_ = parsed(read_limit_());
    if (used_ >= limit_ || bytes >= limit_ - used_) return false;
    used_ += bytes;
    return true;
  }
  /// Bytes that are not on the disk any more.
  void give_back(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes < used_ ? bytes : used_;
  }
  /// Begins to count anew.
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

/// The one of this process, which all hooks and servers share unless they are given another.
inline DiskBudget& disk_budget() {
  static DiskBudget budget;
  return budget;
}

}  // namespace crochet::debug
