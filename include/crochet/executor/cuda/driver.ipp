// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/driver_functions.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_compiler.hpp>
#include <crochet/executor/cuda/plan_graph.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

namespace crochet::cuda {

namespace detail {

CROCHET_INLINE const DriverFunctions& driver() {
  static const DriverFunctions functions;
  if (!functions.complete) {
    throw DeviceError("crochet: this machine has no NVIDIA driver (" + functions.library.reason() +
                      "). Install the driver of the GPU, or use crochet::Cpu");
  }
  return functions;
}
CROCHET_INLINE std::string text_of(int code) {
  const char *name = nullptr, *text = nullptr;
  driver().error_name(code, &name);
  driver().error_text(code, &text);
  return std::string(text == nullptr ? "unknown error" : text) + " (" + (name == nullptr ? "" : name) + ", " +
         std::to_string(code) + ")";
}
CROCHET_INLINE DriverFunctions::Pointer pointer(const void* p) { return reinterpret_cast<DriverFunctions::Pointer>(p); }

CROCHET_INLINE CurrentContext::CurrentContext(void* context) noexcept : code_(driver().current(&before_)) {
  if (code_ != 0 || before_ == context) return;
  code_ = driver().use(context);
  changed_ = code_ == 0;
}
CROCHET_INLINE CurrentContext::~CurrentContext() {
  if (changed_) driver().use(before_);
}

/// The oldest supported compute capability, times 10: Turing.
inline constexpr int oldest_architecture = 75;
/// The first one with products in tf32 and bf16: Ampere.
inline constexpr int oldest_with_tensor_products = 80;
/// The counters of Launch::barrier.
inline constexpr std::size_t counters_of_a_node = 2;

CROCHET_INLINE std::string no_such_gpu(int index, int count) {
  constexpr const char* cure =
      ", counted from 0. CUDA_VISIBLE_DEVICES, a launcher or a container may hide others: with a GPU for each process "
      "use .device = 0";
  std::string text =
      crochet::detail::message({"crochet: there is no GPU number ", index, "; this process sees ", count, cure});
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? text : text + " (CUDA_VISIBLE_DEVICES is \"" + visible + "\")";
}

/// What the graphs of a plan differ in: sizes and addresses of a run.
using GraphKey = std::array<std::uint64_t, 9 + table_symbols>;
CROCHET_INLINE GraphKey key_of(const Launch& run) {
  GraphKey key{pointer(run.tables.steps),
               pointer(run.tables.scratch),
               pointer(run.tables.tickets),
               pointer(run.bases),
               pointer(run.watched),
               pointer(run.flags),
               static_cast<std::uint64_t>(run.watched_count),
               static_cast<std::uint64_t>(run.first_run),
               static_cast<std::uint64_t>(run.tables.first_row)};
  for (std::size_t s = 0; s < table_symbols; ++s) key[9 + s] = static_cast<std::uint64_t>(run.tables.dims[s]);
  return key;
}

}  // namespace detail

struct GpuDevice::Plan {
  detail::DriverFunctions::Module module = nullptr;
  detail::DriverFunctions::Function function = nullptr;
  std::map<detail::GraphKey, void*> graphs;
  void* counters = nullptr;  ///< the barrier of each node of a graph
};

CROCHET_INLINE GpuDevice::GpuDevice(int index, MatmulPrecision precision) : index_(index), precision_(precision) {
  find(index);
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}
CROCHET_INLINE GpuDevice::~GpuDevice() { close(); }

CROCHET_INLINE void GpuDevice::find(int index) {
  const auto& driver = detail::driver();
  check(driver.init(0), "start the driver");
  int count = 0, major = 0, minor = 0;
  check(driver.count(&count), "count the devices");
  if (index < 0 || index >= count) throw DeviceError(detail::no_such_gpu(index, count));
  check(driver.attribute(&major, detail::capability_major, index_), "read the device's properties");
  check(driver.attribute(&minor, detail::capability_minor, index_), "read the device's properties");
  check(driver.attribute(&multiprocessors_, detail::multiprocessor_count, index_), "read the device's properties");
  architecture_ = 10 * major + minor;
  std::array<char, 256> name{};
  check(driver.name(name.data(), static_cast<int>(name.size()), index_), "read the device's name");
  name_ = std::string(name.data()) + ", sm_" + std::to_string(architecture_);
  if (architecture_ < detail::oldest_architecture) {
    throw DeviceError("crochet: the GPU " + name_ + " is too old; plans need sm_75 (Turing) or later");
  }
  if (precision_ != MatmulPrecision::fp32 && architecture_ < detail::oldest_with_tensor_products) {
    throw DeviceError("crochet: the GPU " + name_ +
                      " has no products in tf32 or bf16, which need sm_80 (Ampere) or later; use .matmul_precision = "
                      "crochet::MatmulPrecision::fp32");
  }
}
CROCHET_INLINE void GpuDevice::open() {
  const auto& driver = detail::driver();
  check(driver.retain(&context_, index_), "make a context");
  const Here here(*this);
  for (void*& stream : streams_) check(driver.create_stream(&stream, detail::non_blocking), "make a stream");
  for (void*& event : orders_) check(driver.create_event(&event, detail::without_timing), "make an event");
  constexpr std::size_t counters = 64;
  barrier_ = allocate(counters, "the barrier of a launch");
  clear(barrier_, counters);
}

CROCHET_INLINE void GpuDevice::close() noexcept {
  if (context_ == nullptr) return;
  const auto& driver = detail::driver();
  const detail::CurrentContext here(context_);
  wait_for_streams();
  for (auto& [key, plan] : plans_) {
    forget_graphs(*plan);
    if (plan->counters != nullptr) driver.release(detail::pointer(plan->counters));
    driver.unload(plan->module);
  }
  if (gather_ != nullptr) driver.unload(gather_->module);
  times_.destroy();
  if (barrier_ != nullptr) driver.release(detail::pointer(barrier_));
  for (void* const event : orders_) {
    if (event != nullptr) driver.destroy_event(event);
  }
  for (void* const stream : streams_) {
    if (stream != nullptr) driver.destroy_stream(stream);
  }
  driver.release_context(index_);
}

CROCHET_INLINE void GpuDevice::check(int code, const char* what) const {
  if (code != 0) fail(what, detail::text_of(code));
}
CROCHET_INLINE void GpuDevice::fail(const char* what, const std::string& reason) const {
  std::string text = std::string("crochet: cannot ") + what + " on the GPU: " + reason;
  if (launched_ > finished_) {
    constexpr const char* cure =
        " of this device were under way; .steps_per_launch = 1 and the environment variable CUDA_LAUNCH_BLOCKING=1 "
        "find "
        "the one that fails";
    text += crochet::detail::message({". Runs ", static_cast<std::int64_t>(finished_.load() + 1), " to ",
                                      static_cast<std::int64_t>(launched_.load()), cure});
  }
  throw DeviceError(text);
}

CROCHET_INLINE void* GpuDevice::allocate(std::size_t bytes, const char* purpose) {
  const auto& driver = detail::driver();
  const Here here(*this);
  detail::DriverFunctions::Pointer memory = 0;
  const int code = driver.allocate(&memory, bytes == 0 ? 1 : bytes);
  if (code == detail::out_of_memory) {
    std::size_t free = 0, total = 0;
    driver.free_memory(&free, &total);
    throw DeviceMemoryError(crochet::detail::message(
        {"crochet: the GPU has no memory for ", purpose, ": ", static_cast<std::int64_t>(bytes),
         " bytes were requested and ", static_cast<std::int64_t>(free), " of ", static_cast<std::int64_t>(total),
         " are free; use smaller batches"}));
  }
  check(code, "allocate memory");
  return reinterpret_cast<void*>(memory);  // NOLINT(performance-no-int-to-ptr): the driver's type of an address
}
CROCHET_INLINE void GpuDevice::release(void* memory) noexcept {
  const auto& driver = detail::driver();
  const detail::CurrentContext here(context_);
  wait_for_streams();
  driver.release(detail::pointer(memory));
}
CROCHET_INLINE void* GpuDevice::allocate_pinned(std::size_t bytes, const char* purpose) {
  const auto& driver = detail::driver();
  const Here here(*this);
  void* memory = nullptr;
  const int code = driver.allocate_pinned(&memory, bytes == 0 ? 1 : bytes, 0);
  if (code == detail::out_of_memory) {
    throw DeviceMemoryError(crochet::detail::message({"crochet: the host has no pinned memory for ", purpose, ": ",
                                                      static_cast<std::int64_t>(bytes), " bytes were requested"}));
  }
  check(code, "allocate pinned memory");
  return memory;
}
CROCHET_INLINE void GpuDevice::release_pinned(void* memory) noexcept {
  const auto& driver = detail::driver();
  const detail::CurrentContext here(context_);
  wait_for_streams();
  driver.release_pinned(memory);
}

// A copy from memory that is not pinned returns when the driver has read it. The type of memory that the driver does
// not know is 0. cuPointerGetAttribute returns an error for it, which compute-sanitizer counts.
CROCHET_INLINE void GpuDevice::upload(void* to, const void* from, std::size_t bytes) {
  const auto& driver = detail::driver();
  const Here here(*this);
  copy_to_device(to, from, bytes, Stream::compute);
  unsigned type = 0;
  void* values[] = {&type};
  const int code =
      driver.memory_attributes(1, &detail::memory_type, static_cast<void**>(values), detail::pointer(from));
  const bool is_pageable = code == 0 && type == 0;
  if (!is_pageable) check(driver.wait_stream(stream(Stream::compute)), "wait for the stream");
}
CROCHET_INLINE void GpuDevice::upload_pinned(void* to, const void* from, std::size_t bytes) {
  copy_to_device(to, from, bytes, Stream::copies);
}
CROCHET_INLINE void GpuDevice::copy_to_device(void* to, const void* from, std::size_t bytes, Stream which) {
  const auto& driver = detail::driver();
  const Here here(*this);
  if (bytes > 0) check(driver.upload(detail::pointer(to), from, bytes, stream(which)), "copy to the device");
}
CROCHET_INLINE void GpuDevice::clear(void* to, std::size_t bytes) {
  const auto& driver = detail::driver();
  const Here here(*this);
  if (bytes > 0) check(driver.fill(detail::pointer(to), 0, bytes, stream(Stream::compute)), "clear memory");
}
CROCHET_INLINE void GpuDevice::download_later(void* to, const void* from, std::size_t bytes, Stream which) {
  const auto& driver = detail::driver();
  const Here here(*this);
  if (bytes > 0) check(driver.download(to, detail::pointer(from), bytes, stream(which)), "copy to the host");
}
CROCHET_INLINE void GpuDevice::copy(void* to, const void* from, std::size_t bytes) {
  const auto& driver = detail::driver();
  const Here here(*this);
  if (bytes == 0) return;
  check(driver.copy(detail::pointer(to), detail::pointer(from), bytes, stream(Stream::compute)), "copy memory");
}
CROCHET_INLINE void GpuDevice::download(void* to, const void* from, std::size_t bytes) {
  const auto& driver = detail::driver();
  const Here here(*this);
  download_later(to, from, bytes, Stream::compute);
  check(driver.wait_stream(stream(Stream::compute)), "wait for the stream");
  finished_ = launched_.load();
}

// A driver loads code of its own major version of CUDA and of older ones.
CROCHET_INLINE void GpuDevice::fail_to_load(int code) const {
  const std::string nvrtc = has_nvrtc() ? nvrtc_version() : "0";
  int version = 0;
  detail::driver().version(&version);
  const int major = version / 1000, minor = version % 1000 / 10;
  std::string reason = detail::text_of(code);
  if (code != detail::out_of_memory && std::stoi(nvrtc) > major) {
    reason += crochet::detail::message(
        {". NVRTC ", nvrtc, " compiled it, and the driver is of CUDA ", major, ".", minor, ". Install a newer driver"});
    constexpr const char* cure = ", or the Python package nvidia-cuda-nvrtc-cu12 with its folder in LD_LIBRARY_PATH";
    if (major == 12) reason += cure;
  }
  fail("load a plan", reason);
}
CROCHET_INLINE std::unique_ptr<GpuDevice::Plan> GpuDevice::load(const std::string& code, const char* kernel) const {
  auto made = std::make_unique<Plan>();
  const auto& driver = detail::driver();
  if (const int wrong = driver.load(&made->module, code.data()); wrong != 0) fail_to_load(wrong);
  const int found = driver.function(&made->function, made->module, kernel);
  if (found != 0) driver.unload(made->module);
  check(found, "find the kernel of a plan");
  return made;
}
CROCHET_INLINE GpuDevice::Plan& GpuDevice::plan_of(const void* key, const PlanSource& source, const Tables& tables) {
  const int tile = std::max<int>(tables.tile, ProductParts::small_tile);  // which every plan has
  const auto known = plans_.lower_bound({key, tile});
  if (known != plans_.end() && known->first.first == key) return *known->second;
  auto plan = load(compiled_plan(plan_text(source, precision_, tile), architecture_), "crochet_plan");
  return *plans_.emplace(std::pair{key, tile}, std::move(plan)).first->second;
}

CROCHET_INLINE void GpuDevice::gather(const RowGather* all, int count) {
  const auto& driver = detail::driver();
  const Here here(*this);
  if (gather_ == nullptr) gather_ = load(compiled_plan(gather_text(), architecture_), "crochet_gather");
  constexpr unsigned threads = 256;
  void* arguments[] = {static_cast<void*>(&all), &count};
  check(driver.launch_alone(gather_->function, static_cast<unsigned>(multiprocessors_), 1, 1, threads, 1, 1, 0,
                            stream(Stream::copies), static_cast<void**>(arguments), nullptr),
        "gather rows");
}
CROCHET_INLINE void GpuDevice::launch(const void* key, const PlanSource& source, Launch what) {
  const auto& driver = detail::driver();
  const Here here(*this);  // before the plan is loaded into it
  const Plan& plan = plan_of(key, source, what.tables);
  begin_launch(what);
  constexpr unsigned threads = 256;
  void* arguments[] = {&what};
  check(driver.launch(plan.function, static_cast<unsigned>(multiprocessors_), 1, 1, threads, 1, 1, 0,
                      stream(Stream::compute), static_cast<void**>(arguments)),
        "launch a plan");
  end_launch(what);
}

// One event a stream is enough: a stream waits for the last recording before the call.
CROCHET_INLINE void GpuDevice::order(Stream first, Stream second) {
  const auto& driver = detail::driver();
  const Here here(*this);
  void* const event = orders_[static_cast<std::size_t>(first)];
  check(driver.record(event, stream(first)), "record an event");
  check(driver.order(stream(second), event, 0), "order two streams");
}
CROCHET_INLINE void GpuDevice::launch_graphs(const void* key, const PlanSource& source, const Launch& what) {
  const auto& driver = detail::driver();
  if (!driver.has_graphs) throw DeviceError("crochet: the driver of the GPU has no graphs; leave out .mode");
  const Here here(*this);
  Plan& plan = plan_of(key, source, what.tables);
  if (plan.counters == nullptr) {
    const std::size_t bytes = (source.steps.size() + 1) * detail::counters_of_a_node * sizeof(std::uint32_t);
    plan.counters = allocate(bytes, "the counters of a graph");
    clear(plan.counters, bytes);
  }
  // Those of the three slots of feeds, and as many of other sizes.
  const std::size_t most_graphs = std::max<std::size_t>(256, 6 * static_cast<std::size_t>(what.times));
  for (int run = 0; run < what.times; ++run) {
    const Launch first = PlanGraph::node(what, run, 0, source.steps.size());
    const detail::GraphKey graph = detail::key_of(first);
    auto found = plan.graphs.find(graph);
    if (found == plan.graphs.end()) {
      if (plan.graphs.size() >= most_graphs) forget_graphs(plan);
      found = plan.graphs.emplace(graph, make_graph(plan, source, first)).first;
    }
    ++launched_;
    check(driver.launch_graph(found->second, stream(Stream::compute)), "launch a graph");
  }
}
CROCHET_INLINE void* GpuDevice::make_graph(const Plan& plan, const PlanSource& source, const Launch& run) const {
  const auto& driver = detail::driver();
  const PlanGraph planned(source, run.watched_count > 0);
  detail::DriverFunctions::Graph graph = nullptr;
  check(driver.create_graph(&graph, 0), "make a graph");
  const std::unique_ptr<void, int (*)(void*)> owner(graph, driver.destroy_graph);
  std::vector<detail::DriverFunctions::Node> nodes(planned.size());
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    Launch launch = PlanGraph::node(run, 0, k, source.steps.size());
    launch.first_run = run.first_run;
    launch.barrier = static_cast<std::uint32_t*>(plan.counters) + k * detail::counters_of_a_node;
    void* arguments[] = {&launch};
    detail::KernelNode node{.function = plan.function,
                            .grid = {static_cast<unsigned>(multiprocessors_), 1, 1},
                            .arguments = static_cast<void**>(arguments)};
    const auto [first, last] = planned.dependencies(k);
    check(driver.add_node(&nodes[k], graph, nodes.data() + first, last - first, &node), "make a node of a graph");
    if (!planned.has_barrier(k)) continue;
    const detail::NodeAttribute cooperative{.flag = 1};
    check(driver.set_attribute(nodes[k], detail::cooperative_node, &cooperative), "make a node of a graph");
  }
  detail::DriverFunctions::Graph executable = nullptr;
  check(driver.instantiate(&executable, graph, 0), "instantiate a graph");
  return executable;
}
CROCHET_INLINE void GpuDevice::forget_graphs(Plan& plan) const noexcept {
  if (plan.graphs.empty()) return;
  wait_for_streams();
  for (auto& [key, graph] : plan.graphs) detail::driver().destroy_instance(graph);
  plan.graphs.clear();
}

CROCHET_INLINE GpuDevice::Event GpuDevice::record(Stream which) {
  const auto& driver = detail::driver();
  const Here here(*this);
  detail::DriverFunctions::Event made = nullptr;
  check(driver.create_event(&made, detail::without_timing), "make an event");
  Event event;
  event.handle = {made, [context = context_](void* e) {
                    const detail::CurrentContext restored(context);
                    detail::driver().destroy_event(e);
                  }};
  check(driver.record(made, stream(which)), "record an event");
  if (which == Stream::compute) event.launched = launched_.load();
  return event;
}
CROCHET_INLINE void GpuDevice::wait(const Event& event) const {
  if (event.handle == nullptr) return;
  const auto& driver = detail::driver();
  const Here here(*this);
  check(driver.wait_event(event.handle.get()), "wait for an event");
  std::uint64_t known = finished_.load();
  while (known < event.launched && !finished_.compare_exchange_weak(known, event.launched)) {
  }
}
CROCHET_INLINE void GpuDevice::synchronize() {
  const auto& driver = detail::driver();
  const Here here(*this);
  for (void* const stream : streams_) check(driver.wait_stream(stream), "wait for the stream");
  finished_ = launched_.load();
}
CROCHET_INLINE void GpuDevice::wait_for_streams() const noexcept {
  for (void* const stream : streams_) detail::driver().wait_stream(stream);
}

CROCHET_INLINE std::string GpuDevice::pci_bus_id() const {
  std::array<char, 32> id{};
  check(detail::driver().bus_id(id.data(), static_cast<int>(id.size()), index_), "read the device's address");
  return id.data();
}

CROCHET_INLINE std::size_t GpuDevice::mark() {
  const Here here(*this);
  check(times_.record(stream(Stream::compute)), "record an event");
  return times_.count() - 1;
}
CROCHET_INLINE double GpuDevice::seconds_between(std::size_t from, std::size_t to) const {
  double seconds = 0;
  const Here here(*this);
  check(times_.elapsed(from, to, seconds), "read the time between two events");
  return seconds;
}

}  // namespace crochet::cuda
