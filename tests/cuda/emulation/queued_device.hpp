// SPDX-License-Identifier: Apache-2.0
// A device in software for tests. Its streams are queues of copies and launches, which wait until the program waits for
// them or an event forces them, and everything is counted. So a missing wait or event, or memory that is reused too
// early, gives wrong results.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <crochet/executor/cuda/plan_graph.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/kernels/cuda/gather_rows.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace emulation {

using crochet::cuda::Stream;

/// What a device did.
struct Counters {
  int launches = 0, runs = 0;
  int marks = 0;
  int waits = 0;            ///< calls that had to wait for the device, on the thread that made it
  int waits_elsewhere = 0;  ///< on other threads
  int uploads = 0, downloads = 0;
  std::size_t bytes_downloaded = 0;
  int graphs = 0;   ///< of a run each
  int orders = 0;   ///< events between streams
  int foreign = 0;  ///< work of other libraries
  int gathers = 0;  ///< launches that gather rows of data sets
};

/// When the streams of copies run: as late as events allow, or as early. The stream of launches always runs late.
enum class Copies : std::uint8_t { late, early };

/// Grid: what runs the threads of a launch.
template <class Grid, class Block>
class QueuedDevice {
 public:
  struct Event {
    Stream stream{};
    std::size_t position = 0;
  };
  static constexpr bool runs_own_operations = true, has_graphs = true;

  template <class... Args>
  explicit QueuedDevice(Args... args) : grid_(args...) {
    grid_.timer = [this] { return static_cast<std::uint64_t>(std::llround(clock() * 1e9)); };
  }
  QueuedDevice(const QueuedDevice&) = delete;
  QueuedDevice& operator=(const QueuedDevice&) = delete;

  int blocks() const { return grid_.blocks(); }
  std::string name() const { return "a device in software"; }
  int number() const { return 0; }
  Counters counters;
  /// The device's clock, in seconds. It is read when the device reaches a mark, and by Block::timer().
  std::function<double()> clock = [] { return 0.0; };
  /// Called before memory is allocated, with its purpose.
  std::function<void(const char*)> on_allocate = [](const char*) {};
  /// Called when a plan is compiled ahead.
  std::function<void()> on_prepare = [] {};
  /// Called before each launch is executed.
  std::function<void()> on_launch = [] {};
  Copies copies = Copies::late;
  bool ignores_orders = false, ignores_waits = false;  ///< to show what these are for

  void* allocate(std::size_t bytes, const char* purpose) {
    on_allocate(purpose);
    void* const p = std::malloc(bytes + 64);
    std::memset(p, 0xFF, bytes);  // NaN
    const std::lock_guard lock(mutex_);
    owned_[reinterpret_cast<std::uintptr_t>(p)] = bytes;
    return p;
  }
  void release(void* p) noexcept {
    const std::lock_guard lock(mutex_);
    drain();
    owned_.erase(reinterpret_cast<std::uintptr_t>(p));
    std::free(p);
  }
  void* allocate_pinned(std::size_t bytes, const char* purpose) { return allocate(bytes, purpose); }
  void release_pinned(void* p) noexcept { release(p); }

  void upload(void* to, const void* from, std::size_t bytes) {
    ++counters.uploads;
    const auto* const first = static_cast<const unsigned char*>(from);
    push(Stream::compute,
         [to, copy = std::vector<unsigned char>(first, first + bytes)] { std::memcpy(to, copy.data(), copy.size()); });
  }
  void upload_pinned(void* to, const void* from, std::size_t bytes) {
    ++counters.uploads;
    push(Stream::copies, [=] { std::memcpy(to, from, bytes); });
  }
  void gather(const crochet::cuda::RowGather* all, int count) {
    ++counters.gathers;
    push(Stream::copies, [=, this] {
      grid_.template run<Block>([&](Block& block) { crochet::cuda::gather_rows(block, all, count); });
    });
  }
  void clear(void* to, std::size_t bytes) {
    push(Stream::compute, [=] { std::memset(to, 0, bytes); });
  }
  /// Throws std::logic_error if the bytes are not in memory of the device.
  void download(void* to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    require_owned(from, bytes);
    ++counters.downloads;
    counters.bytes_downloaded += bytes;
    ++counters.waits;
    run_to(record(Stream::compute));
    std::memcpy(to, from, bytes);
  }
  void download_later(void* to, const void* from, std::size_t bytes, Stream stream) {
    push(stream, [=] { std::memcpy(to, from, bytes); });
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    push(Stream::compute, [=] { std::memcpy(to, from, bytes); });
  }
  template <class Code>
  void prepare(const crochet::cuda::Tables&) {
    on_prepare();
  }
  template <class Code>
  void launch(const crochet::cuda::Launch& what) {
    ++counters.launches;
    counters.runs += what.times;
    push(Stream::compute, [this, what] {
      on_launch();
      grid_.template run<Block>([&](Block& block) { Code::run(block, what); });
    });
  }

  /// Each run is a graph. Of the nodes whose edges permit it, the last one runs first.
  template <class Code>
  void launch_graphs(const crochet::cuda::Launch& what) {
    counters.runs += what.times;
    counters.graphs += what.times;
    const crochet::cuda::PlanSource source = Code::source();
    push(Stream::compute, [this, what, source] {
      const crochet::cuda::PlanGraph graph(source, what.watched_count > 0);
      for (int run = 0; run < what.times; ++run) {
        run_graph(graph, [&](std::size_t node) {
          const auto launch = crochet::cuda::PlanGraph::node(what, run, node, source.steps.size());
          grid_.template run<Block>([&](Block& block) { Code::run(block, launch); });
        });
      }
    });
  }

  /// What queue(stream) does is done now, behind what is in the stream.
  template <class Queue>
  void with_stream(Stream which, const Queue& queue) {
    const std::lock_guard lock(mutex_);
    ++counters.foreign;
    run_to(record(which));
    queue(nullptr);
  }
  void order(Stream first, Stream second) {
    const std::lock_guard lock(mutex_);
    ++counters.orders;
    if (ignores_orders) return;
    push(
        second, [this, event = record(first)] { run_to(event); }, record(first));
  }
  Event record(Stream stream) {
    const std::lock_guard lock(mutex_);
    return {stream, of(stream).pushed};
  }
  /// Any thread: what it waits for runs there.
  void wait(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (of(event.stream).done >= event.position) return;
    ++(std::this_thread::get_id() == thread_ ? counters.waits : counters.waits_elsewhere);
    if (!ignores_waits) run_to(event);
  }
  void synchronize() {
    const std::lock_guard lock(mutex_);
    ++counters.waits;
    drain();
  }

  void start_marks() { marks_.clear(); }
  std::size_t mark() {
    ++counters.marks;
    const std::size_t number = marks_.size();
    marks_.push_back(0);
    push(Stream::compute, [this, number] { marks_[number] = clock(); });
    return number;
  }
  double seconds_between(std::size_t from, std::size_t to) const { return marks_[to] - marks_[from]; }

 private:
  struct Item {
    std::function<void()> work;
    Event behind;  ///< for an order: runs early only behind this
  };
  struct Queue {
    std::deque<Item> items;
    std::size_t pushed = 0, done = 0;
    bool busy = false;  ///< with an item that waits for another stream
  };

  template <class Run>
  static void run_graph(const crochet::cuda::PlanGraph& graph, const Run& run) {
    std::vector<bool> done(graph.size());
    const auto ready = [&](std::size_t node) {
      const auto [first, last] = graph.dependencies(node);
      bool all = !done[node];
      for (std::size_t k = first; k < last; ++k) all = all && done[k];
      return all;
    };
    for (std::size_t count = 0; count < graph.size(); ++count) {
      std::size_t node = graph.size() - 1;
      while (!ready(node)) --node;
      run(node);
      done[node] = true;
    }
  }

  void require_owned(const void* from, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    const auto next = owned_.upper_bound(at);
    if (next != owned_.begin() && at + bytes <= std::prev(next)->first + std::prev(next)->second) return;
    throw std::logic_error("emulation: a copy from memory that was released, or is not of the device");
  }

  Queue& of(Stream stream) { return queues_[static_cast<std::size_t>(stream)]; }
  void push(Stream stream, std::function<void()> work, Event behind = {}) {
    const std::lock_guard lock(mutex_);
    of(stream).items.push_back({std::move(work), behind});
    ++of(stream).pushed;
    run_early();
  }
  void step(Stream stream) {
    Queue& q = of(stream);
    const auto work = std::move(q.items.front().work);
    q.items.pop_front();
    struct Finished {
      Queue& q;
      ~Finished() { q.busy = false, ++q.done; }  // also behind an exception
    } finished{q};
    q.busy = true;
    work();
  }
  void run_to(const Event& event) {
    while (of(event.stream).done < event.position) {
      step(event.stream);
      if (event.stream == Stream::compute) run_early();
    }
  }
  void run_early() {
    for (const Stream stream : {Stream::copies, Stream::downloads}) {
      Queue& q = of(stream);
      const auto ready = [&] { return q.items.front().behind.position <= of(q.items.front().behind.stream).done; };
      while (copies == Copies::early && !q.busy && !q.items.empty() && ready()) step(stream);
    }
  }
  void drain() {
    for (const Stream stream : {Stream::compute, Stream::copies, Stream::downloads}) run_to(record(stream));
  }

  std::recursive_mutex mutex_;
  const std::thread::id thread_ = std::this_thread::get_id();
  Grid grid_;
  std::map<std::uintptr_t, std::size_t> owned_;  ///< the bytes at each address that was allocated
  std::array<Queue, crochet::cuda::stream_count> queues_;
  std::vector<double> marks_;
};

}  // namespace emulation
