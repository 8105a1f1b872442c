// SPDX-License-Identifier: Apache-2.0
// The compiled half of worker.hpp.
#pragma once

#include <crochet/trace/worker.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace crochet::trace {

CROCHET_INLINE Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

CROCHET_INLINE bool Worker::add(Work work) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const auto room = [this] { return queue_.size() < capacity_; };
  const double most = 1e9;  // over 30 years; infinity would not wait at all
  if (!changed_.wait_for(lock, std::chrono::duration<double>(std::min(seconds_, most)), room)) return false;
  queue_.push_back(std::move(work));
  changed_.notify_all();
  return true;
}

CROCHET_INLINE void Worker::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

CROCHET_INLINE void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace crochet::trace
