// SPDX-License-Identifier: Apache-2.0
// A device in software for tests: copies and launches stay in a queue until the program waits, and everything is
// counted. So a missing wait, or pinned memory that is reused too early, gives wrong results.
#pragma once
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <crochet/kernels/cuda/table.hpp>

namespace emulation {

/// What a device did.
struct Counters {
  int launches = 0, runs = 0;
  int marks = 0;
  int waits = 0;  ///< calls that had to wait for the device
  int uploads = 0, downloads = 0;
  std::size_t bytes_downloaded = 0;
};

/// Grid: what runs the threads of a launch.
template <class Grid, class Block>
class QueuedDevice {
 public:
  using Event = std::size_t;
  static constexpr bool runs_own_operations = true;

  template <class... Args>
  explicit QueuedDevice(Args... args) : grid_(args...) {}
  QueuedDevice(const QueuedDevice&) = delete;
  QueuedDevice& operator=(const QueuedDevice&) = delete;

  int blocks() const { return grid_.blocks(); }
  std::string name() const { return "a device in software"; }
  int number() const { return 0; }
  Counters counters;
  /// The device's clock, in seconds. It is read when the device reaches a mark.
  std::function<double()> clock = [] { return 0.0; };
  /// Called before each launch is executed.
  std::function<void()> on_launch = [] {};

  void* allocate(std::size_t bytes, const char*) {
    void* const p = std::malloc(bytes + 64);
    std::memset(p, 0xFF, bytes);  // NaN
    return p;
  }
  void release(void* p) noexcept {
    drain();
    std::free(p);
  }
  void* allocate_pinned(std::size_t bytes, const char* purpose) { return allocate(bytes, purpose); }
  void release_pinned(void* p) noexcept { release(p); }

  void upload(void* to, const void* from, std::size_t bytes) {
    ++counters.uploads;
    const auto* const first = static_cast<const unsigned char*>(from);
    push([to, copy = std::vector<unsigned char>(first, first + bytes)] { std::memcpy(to, copy.data(), copy.size()); });
  }
  void upload_pinned(void* to, const void* from, std::size_t bytes) {
    ++counters.uploads;
    push([=] { std::memcpy(to, from, bytes); });
  }
  void clear(void* to, std::size_t bytes) {
    push([=] { std::memset(to, 0, bytes); });
  }
  void download(void* to, const void* from, std::size_t bytes) {
    ++counters.downloads;
    counters.bytes_downloaded += bytes;
    ++counters.waits;
    drain();
    std::memcpy(to, from, bytes);
  }
  template <class Code>
  void launch(const crochet::cuda::Launch& what) {
    ++counters.launches;
    counters.runs += what.times;
    push([this, what] {
      on_launch();
      grid_.run([&](Block& block) { Code::run(block, what); });
    });
  }

  Event record() { return pushed_; }
  void wait(Event event) {
    if (done_ < event) ++counters.waits;
    while (done_ < event) step();
  }
  void synchronize() {
    ++counters.waits;
    drain();
  }

  void start_marks() { marks_.clear(); }
  std::size_t mark() {
    ++counters.marks;
    const std::size_t number = marks_.size();
    marks_.push_back(0);
    push([this, number] { marks_[number] = clock(); });
    return number;
  }
  double seconds_between(std::size_t from, std::size_t to) const { return marks_[to] - marks_[from]; }

 private:
  void push(std::function<void()> work) {
    queue_.push_back(std::move(work));
    ++pushed_;
  }
  void step() {
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    ++done_;
    work();
  }
  void drain() {
    while (!queue_.empty()) step();
  }

  Grid grid_;
  std::deque<std::function<void()>> queue_;
  std::vector<double> marks_;
  Event pushed_ = 0, done_ = 0;
};

}  // namespace emulation
