// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/driver.ipp>
#include <crochet/executor/cuda/driver_functions.hpp>
#include <crochet/executor/cuda/timing_events.hpp>

namespace crochet::cuda {

CROCHET_INLINE int TimingEvents::record(void* stream) {
  const auto& driver = detail::driver();
  if (used_ == events_.size()) {
    events_.push_back(nullptr);
    if (const int code = driver.create_event(&events_.back(), detail::with_timing); code != 0) {
      events_.pop_back();
      return code;
    }
  }
  return driver.record(events_[used_++], stream);
}

CROCHET_INLINE int TimingEvents::elapsed(std::size_t from, std::size_t to, double& seconds) const {
  float milliseconds = 0;
  const int code = detail::driver().elapsed(&milliseconds, events_[from], events_[to]);
  seconds = 1e-3 * static_cast<double>(milliseconds);
  return code;
}

CROCHET_INLINE void TimingEvents::destroy() noexcept {
  for (void* const event : events_) detail::driver().destroy_event(event);
  events_.clear();
}

}  // namespace crochet::cuda
