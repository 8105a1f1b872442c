// SPDX-License-Identifier: Apache-2.0
// GpuDevice: a GPU by NVIDIA's driver, which is loaded when it is used. The interface of a device for the executor:
// memory, copies and launches in the order of one stream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/executor/cuda/timing_events.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// A GPU and its stream. Used by one thread at a time.
class GpuDevice {
 public:
  using Event = std::uint64_t;
  static constexpr bool runs_own_operations = false;

  /// Throws DeviceError if there is no driver, no such device, or a device that is too old (before Turing).
  explicit GpuDevice(int index = 0);
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

  /// `from` may be changed when the call returns.
  void upload(void* to, const void* from, std::size_t bytes);
  /// `from` is pinned, and stays until an event recorded behind has been waited for.
  void upload_pinned(void* to, const void* from, std::size_t bytes);
  void clear(void* to, std::size_t bytes);
  /// Waits for all that was queued before.
  void download(void* to, const void* from, std::size_t bytes);

  /// Queues runs of a plan. Code: PlanCode. Compiles the plan on its first launch.
  template <class Code>
  void launch(const Launch& what) {
    static const char key = 0;
    launch(&key, Code::source(), what);
  }

  Event record();
  void wait(Event event);
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

 private:
  struct Plan;
  void launch(const void* key, const PlanSource& source, Launch what);
  Plan& plan_of(const void* key, const PlanSource& source);
  void check(int code, const char* what) const;

  int index_ = 0, architecture_ = 0, multiprocessors_ = 0;
  std::string name_;
  void *context_ = nullptr, *stream_ = nullptr, *barrier_ = nullptr;
  std::map<const void*, std::unique_ptr<Plan>> plans_;
  std::map<Event, void*> events_;
  Event last_event_ = 0;
  std::uint64_t launched_ = 0, finished_ = 0;  ///< runs
  TimingEvents times_;
};

}  // namespace crochet::cuda
