// SPDX-License-Identifier: Apache-2.0
// TimingEvents: events of NVIDIA's driver that record when a stream reaches them. They are kept and used again.
#pragma once
#include <cstddef>
#include <vector>

namespace crochet::cuda {

/// The events of one stream. The context of the stream is current in all calls.
class TimingEvents {
 public:
  /// The next event is the first one again.
  void start() { used_ = 0; }
  /// Records the next event. Returns the driver's code.
  int record(void* stream);
  /// The number of events recorded since start().
  std::size_t count() const { return used_; }
  /// Sets the seconds between two events that the stream has passed. Returns the driver's code.
  int elapsed(std::size_t from, std::size_t to, double& seconds) const;
  void destroy() noexcept;

 private:
  std::vector<void*> events_;
  std::size_t used_ = 0;
};

}  // namespace crochet::cuda
