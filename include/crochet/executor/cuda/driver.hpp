// SPDX-License-Identifier: Apache-2.0
// GpuDevice: a GPU by NVIDIA's driver, which is loaded when it is used. The interface of a device for the executor:
// memory, copies and launches in three streams.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <crochet/executor/cuda/current_context.hpp>
#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/executor/cuda/timing_events.hpp>
#include <crochet/kernels/cuda/gather_rows.hpp>
#include <crochet/kernels/cuda/precision.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// A GPU and its streams. Used by one thread at a time; wait() may be called by any. A call leaves the context of its
/// thread as it was.
class GpuDevice {
 public:
  /// A point in a stream. Copies share it.
  struct Event {
    std::shared_ptr<void> handle;  ///< the driver's
    std::uint64_t launched = 0;    ///< runs that are done when it has come
  };
  static constexpr bool runs_own_operations = false;
  static constexpr bool has_graphs = true;  ///< whether it launches plans as graphs
  /// Whether this compiler makes code that launches plans.
  static constexpr bool launches_here = true;

  /// Throws DeviceError if there is no driver, no such device, or a device that is too old: before Turing, or before
  /// Ampere for products of other precision than fp32.
  explicit GpuDevice(int index = 0, MatmulPrecision precision = MatmulPrecision::fp32);
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice();

  /// For example "NVIDIA H200, sm_90".
  const std::string& name() const { return name_; }
  /// The blocks of a plan: one for each multiprocessor.
  int blocks() const { return multiprocessors_; }

  /// Throws DeviceMemoryError. Waits for the device when memory is released.
  void* allocate(std::size_t bytes, const char* purpose);
  void release(void* memory) noexcept;
  void* allocate_pinned(std::size_t bytes, const char* purpose);
  void release_pinned(void* memory) noexcept;

  // In the order of Stream::compute, unless a comment names another stream.

  /// `from` may be changed when the call returns.
  void upload(void* to, const void* from, std::size_t bytes);
  /// In Stream::copies. `from` is pinned, and stays until an event recorded behind has been waited for.
  void upload_pinned(void* to, const void* from, std::size_t bytes);
  /// In Stream::copies: copies the rows of `count` feeds. `all` is memory of the device.
  void gather(const RowGather* all, int count);
  void clear(void* to, std::size_t bytes);
  /// Waits for all that was queued before in Stream::compute.
  void download(void* to, const void* from, std::size_t bytes);

  /// `to` is pinned; it has the bytes when an event recorded behind in the same stream has been waited for.
  void download_later(void* to, const void* from, std::size_t bytes, Stream which);
  /// In the memory of the device.
  void copy(void* to, const void* from, std::size_t bytes);

  /// Queues runs of a plan. Code: PlanCode. Compiles the plan on its first launch, and on the first one with larger
  /// tiles of products.
  template <class Code>
  void launch(const Launch& what) {
    launch(key_of<Code>(), Code::source(), what);
  }
  /// Compiles the plan, so that a launch with these tables does not.
  template <class Code>
  void prepare(const Tables& tables) {
    const Here here(*this);
    plan_of(key_of<Code>(), Code::source(), tables);
  }

  /// The same runs, each as a graph (plan_graph.hpp). Makes the graphs of a launch at its first time. Throws
  /// DeviceError if the driver has no graphs.
  template <class Code>
  void launch_graphs(const Launch& what) {
    static const char key = 0;
    launch_graphs(&key, Code::source(), what);
  }

  /// Calls queue(stream), a CUstream, with the device's context current: for libraries that queue work there.
  template <class Queue>
  void with_stream(Stream which, const Queue& queue) {
    const Here here(*this);
    queue(stream(which));
  }

  /// What is queued in `second` from here on runs behind what is queued in `first` now. The host does not wait.
  void order(Stream first, Stream second);
  /// An event behind what is queued in the stream.
  Event record(Stream which);
  /// The host waits. No effect for an empty Event. Any thread.
  void wait(const Event& event) const;
  /// Waits for all streams.
  void synchronize();

  /// The number of the GPU.
  int number() const { return index_; }
  /// Its address on the PCI bus, for example "0000:3B:00.0".
  std::string pci_bus_id() const;

  // Times on the device's own clock.
  /// Forgets earlier marks.
  void start_marks() { times_.start(); }
  /// Marks a moment in the order of the stream. Returns the number of marks before it.
  std::size_t mark();
  /// The device has been waited for since both marks.
  double seconds_between(std::size_t from, std::size_t to) const;

 protected:
  // For devices that get the code of plans otherwise.

  /// The device's context is that of this thread, until the end of the scope. Throws DeviceError.
  struct Here {
    explicit Here(const GpuDevice& device) : context(device.context_) {
      device.check(context.code(), "use the context");
    }
    const detail::CurrentContext context;
  };
  /// Before a launch: sets the barrier.
  void begin_launch(Launch& what) const { what.barrier = static_cast<std::uint32_t*>(barrier_); }
  /// After it: its runs are under way.
  void end_launch(const Launch& what) { launched_ += static_cast<std::uint64_t>(what.times); }
  void* stream(Stream which) const { return streams_[static_cast<std::size_t>(which)]; }
  /// 10 times the compute capability: 90 is sm_90.
  int architecture() const { return architecture_; }
  /// Throws DeviceError: what failed, the reason, and the runs that were under way.
  [[noreturn]] void fail(const char* what, const std::string& reason) const;

 private:
  struct Plan;
  /// An address for each plan.
  template <class Code>
  static const void* key_of() {
    static const char key = 0;
    return &key;
  }
  /// Throws DeviceError if the GPU cannot be used.
  void find(int index);
  void open();
  void close() noexcept;
  void launch(const void* key, const PlanSource& source, Launch what);
  void launch_graphs(const void* key, const PlanSource& source, const Launch& what);
  void* make_graph(const Plan& plan, const PlanSource& source, const Launch& run) const;
  void forget_graphs(Plan& plan) const noexcept;
  Plan& plan_of(const void* key, const PlanSource& source, const Tables& tables);
  std::unique_ptr<Plan> load(const std::string& code, const char* kernel) const;
  [[noreturn]] void fail_to_load(int code) const;
  void check(int code, const char* what) const;
  void copy_to_device(void* to, const void* from, std::size_t bytes, Stream which);
  void wait_for_streams() const noexcept;

  int index_ = 0, architecture_ = 0, multiprocessors_ = 0;
  MatmulPrecision precision_;
  std::string name_;
  void *context_ = nullptr, *barrier_ = nullptr;
  std::array<void*, stream_count> streams_{}, orders_{};  ///< orders_: the event of order(), by its first stream
  std::map<std::pair<const void*, int>, std::unique_ptr<Plan>> plans_;  ///< by plan and largest tile of its products
  std::unique_ptr<Plan> gather_;
  std::atomic<std::uint64_t> launched_ = 0;
  mutable std::atomic<std::uint64_t> finished_ = 0;  ///< runs
  TimingEvents times_;
};

}  // namespace crochet::cuda
