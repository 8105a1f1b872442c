// SPDX-License-Identifier: Apache-2.0
// The asynchronous copies of a thread on the host. They happen when the thread waits for them, which is as late as a
// GPU may make them: without the wait, the memory has its old contents.
#pragma once
#include <cstring>
#include <stdexcept>

namespace emulation {

class StartedCopies {
 public:
  /// exists: else zeros are written.
  void start(void* to, const void* from, bool exists, unsigned bytes) {
    if (end_ - first_ == most) throw std::logic_error("emulation: too many asynchronous copies of a thread");
    Copy* const c = copies_ + end_++ % most;
    c->to = to;
    c->from = exists ? from : nullptr;
    c->group = groups_;
    c->bytes = bytes;
  }
  void commit() { ++groups_; }
  /// Makes the copies of all groups but the last `kept`.
  void wait(unsigned kept) {
    for (; first_ != end_; ++first_) {
      const Copy* const c = copies_ + first_ % most;
      if (c->group + kept >= groups_) return;
      if (c->from == nullptr) {
        std::memset(c->to, 0, c->bytes);
      } else if (c->bytes == sizeof(int)) {
        std::memcpy(c->to, c->from, sizeof(int));
      } else {
        std::memcpy(c->to, c->from, c->bytes);
      }
    }
  }

 private:
  static constexpr unsigned most = 64;
  struct Copy {
    void* to;
    const void* from;
    unsigned group, bytes;
  };
  Copy copies_[most];
  unsigned first_ = 0, end_ = 0, groups_ = 0;
};

}  // namespace emulation
