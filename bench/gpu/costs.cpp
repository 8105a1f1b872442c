// SPDX-License-Identifier: Apache-2.0
// gpu_costs [--filter TEXT] [--seconds S]: the costs of launches, barriers of the grid, graphs and copies on a GPU.
#include <crochet/crochet.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "../models.hpp"
#include "device.hpp"
#include "measure.hpp"
#include "program.hpp"
#include "raw_gpu.hpp"
#include "raw_kernels.hpp"

namespace bench {
namespace {

void report_us(const std::string& name, const Measured& m, double factor = 1) {
  report({{"part", "costs"}, {"case", name}, {"us", m.median * factor}, {"least", m.least * factor}, {"n", m.n}});
}

/// Microseconds of one more of what `run(times)` makes several of, from runs of 100 and of 1100.
template <class Run>
void report_difference(const std::string& name, const Options& options, const Run& run) {
  const auto us_of = [&](int times) { return measure([&](long n) { run(n, times); }, options); };
  const Measured few = us_of(100), many = us_of(1100);
  report({{"part", "costs"},
          {"case", name},
          {"us", (many.median - few.median) / 1000},
          {"least", (many.least - few.least) / 1000},
          {"n", many.n}});
}

void launches(const RawGpu& gpu, const Options& options) {
  const RawGpu::Kernel empty = gpu.kernel("empty");
  const int blocks = device()->blocks();
  const auto all = [&](const std::string& name, const auto& launch) {
    try_case("costs", name, options, [&] {
      report_us(name, measure(
                          [&](long n) {
                            for (; n > 0; --n) launch();
                            gpu.wait();
                          },
                          options));
    });
  };
  all("launch of an empty kernel", [&] { gpu.launch(empty, blocks); });
  all("cooperative launch of an empty kernel", [&] { gpu.launch_cooperative(empty, blocks); });
  all("cooperative launch of an empty kernel, waited for", [&] {
    gpu.launch_cooperative(empty, blocks);
    gpu.wait();
  });
}

void barriers(const RawGpu& gpu, const Options& options) {
  const RawGpu::Kernel kernel = gpu.kernel("grid_barriers");
  const RawMemory counters(64);
  std::vector<int> sizes{1, 2, 4, 8, 16, 32, 64, device()->blocks()};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int blocks : sizes) {
    if (blocks > device()->blocks()) continue;
    const std::string name = "barrier of the grid, " + std::to_string(blocks) + " blocks";
    try_case("costs", name, options, [&] {
      report_difference(name, options, [&](long n, int times) {
        for (; n > 0; --n) gpu.launch_cooperative(kernel, blocks, counters.data(), times);
        gpu.wait();
      });
    });
  }
}

void graphs(const RawGpu& gpu, const Options& options) {
  const RawGpu::Kernel empty = gpu.kernel("empty");
  const int blocks = device()->blocks();
  const auto graph_of = [&](int kernels) {
    return gpu.graph([&] {
      for (int k = 0; k < kernels; ++k) gpu.launch(empty, blocks);
    });
  };
  const auto measured = [&](RawGpu::Graph graph) {
    return measure(
        [&](long n) {
          for (; n > 0; --n) gpu.launch(graph);
          gpu.wait();
        },
        options);
  };
  try_case("costs", "graph of one empty kernel", options,
           [&] { report_us("graph of one empty kernel", measured(graph_of(1))); });
  try_case("costs", "kernel of a graph", options, [&] {
    const Measured few = measured(graph_of(10)), many = measured(graph_of(110));
    report({{"part", "costs"},
            {"case", "kernel of a graph"},
            {"us", (many.median - few.median) / 100},
            {"least", (many.least - few.least) / 100},
            {"n", many.n}});
  });
}

/// The smallest plan, at one and at 32 runs of a launch.
void plans(const Options& options) {
  for (const int runs : {1, 32}) {
    const std::string name = "launch of a plan of one step, " + std::to_string(runs) + (runs == 1 ? " run" : " runs");
    try_case("costs", name, options, [&] {
      auto executor = executor_of<Scalar>({.steps = runs});
      executor.initialize();
      typename decltype(executor)::Workspace workspace;
      using Train = crochet::Demand<crochet::Names<>, crochet::Names<crochet::Name<"train">>>;
      const Measured m = measure(
          [&](long n) {
            for (long k = 0; k < n * runs; ++k) executor.template run<Train>(workspace);
            finish(executor);
          },
          options);
      report_us(name, m);
    });
  }
}

void uploads(const RawGpu& gpu, const Options& options) {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  try_case("costs", "copy of 16 MiB from pinned memory", options, [&] {
    const RawMemory to(bytes);
    void* const from = device()->allocate_pinned(bytes, "a benchmark");
    const Measured m = measure(
        [&](long n) {
          for (; n > 0; --n) gpu.upload(to.data(), from, bytes);
          gpu.wait();
        },
        options);
    device()->release_pinned(from);
    report({{"part", "costs"},
            {"case", "copy of 16 MiB from pinned memory"},
            {"us", m.median},
            {"gb_per_s", static_cast<double>(bytes) / m.median / 1e3}});
  });
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::program(count, words, [](const bench::Options& options) {
    bench::RawGpu gpu;
    gpu.load(bench::raw_kernels);
    bench::launches(gpu, options);
    bench::barriers(gpu, options);
    bench::graphs(gpu, options);
    bench::plans(options);
    bench::uploads(gpu, options);
  });
}
