// SPDX-License-Identifier: Apache-2.0
// gpu_kernels [--filter TEXT] [--seconds S]: kernels of plans by shape, and the peaks of the GPU.
#include "kernels.hpp"

#include <algorithm>

#if !defined(CROCHET_BENCH_SOFTWARE_DEVICE)
#include "raw_gpu.hpp"
#include "raw_kernels.hpp"
#endif

namespace bench {
namespace {

#if !defined(CROCHET_BENCH_SOFTWARE_DEVICE)
/// The lanes for fp32 of a multiprocessor.
int lanes(int architecture) { return architecture == 75 || architecture == 80 ? 64 : 128; }
/// Operations a clock cycle of a multiprocessor's tensor cores in bf16, dense; 0: not known here. TF32 has half of
/// them.
int tensor_operations(int architecture) { return architecture == 90 ? 4096 : architecture == 80 ? 2048 : 0; }

void report_peak(const char* name, double tflops) { report({{"part", "peaks"}, {"case", name}, {"tflops", tflops}}); }

/// From the multiprocessors and their highest clock.
void nominal_peaks(const RawGpu& gpu) {
  constexpr int clock_in_khz = 13;
  const double cycles = gpu.attribute(clock_in_khz) * 1e3 * device()->blocks();
  report_peak("fp32, nominal", 2 * lanes(gpu.architecture()) * cycles / 1e12);
  const double tensor = tensor_operations(gpu.architecture()) * cycles / 1e12;
  if (tensor > 0) {
    report_peak("tf32, nominal", tensor / 2);
    report_peak("bf16, nominal", tensor);
  }
}

void measured_arithmetic(const RawGpu& gpu, const Options& options) {
  const RawGpu::Kernel kernel = gpu.kernel("multiply_add");
  const RawMemory out(64);
  constexpr int times = 4096, blocks_each = 8;
  const int blocks = device()->blocks() * blocks_each;
  const Measured m = measure(
      [&](long n) {
        for (; n > 0; --n) gpu.launch(kernel, blocks, out.data(), 0.999F, 0.001F, times);
        gpu.wait();
      },
      options);
  report_peak("fp32, measured", 2.0 * 16 * times * 256 * blocks / m.median / 1e6);
}

void report_copy(const char* name, std::size_t bytes, const Measured& m) {
  report({{"part", "peaks"}, {"case", name}, {"gb_per_s", 2 * static_cast<double>(bytes) / m.median / 1e3}});
}

/// Copies as large as the operands of the elementwise programs.
void measured_copies(const RawGpu& gpu, const Options& options) {
  constexpr std::size_t bytes = std::size_t{128} << 20;
  const RawMemory from(bytes), to(bytes);
  const auto copies = [&](const auto& copy) {
    return measure(
        [&](long n) {
          for (; n > 0; --n) copy();
          gpu.wait();
        },
        options);
  };
  const RawGpu::Kernel kernel = gpu.kernel("copy");
  report_copy("copy by a kernel", bytes, copies([&] {
                gpu.launch(kernel, device()->blocks() * 8, from.data(), to.data(), static_cast<long>(bytes / 16));
              }));
  report_copy("copy by the driver", bytes, copies([&] { gpu.copy(to.data(), from.data(), bytes); }));
}

void measure_peaks(const Options& options) {
  try_case("peaks", "peaks", options, [&] {
    RawGpu gpu;
    gpu.load(raw_kernels);
    nominal_peaks(gpu);
    measured_arithmetic(gpu, options);
    measured_copies(gpu, options);
  });
}
#else
void measure_peaks(const Options&) {}
#endif

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  return bench::program(count, words, [](const bench::Options& options) {
    bench::measure_peaks(options);
    bench::measure_products(options);
    bench::measure_convolutions(options);
    bench::measure_elementwise(options);
  });
}
