// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution and its gradients on a device: a thread for each element of the result; the filter's gradient
// is a reduction over all places.
#pragma once
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/reduce_lines.hpp>
#include <crochet/kernels/cuda/window.hpp>

namespace crochet::cuda {

// The filter is [taps, taps, channels, times]: channel c has results c * times, ..., c * times + times - 1.

template <>
struct Kernel<&op::depthwise_conv2d> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand image = call.in(0), filter = call.in(1), out = call.out();
    const detail::Window window(image, out, call);
    const int channels = image[3], times = filter[3], all = channels * times;
    const T *const x = image.as<const T>(), *const w = filter.as<const T>();
    each_element(block, call.first(), out.size(), [&](int i) {
      const int c = i % all, row = i / all, n = row / window.places(), place = row % window.places();
      T sum = 0;
      for (int tap = 0; tap < window.taps(); ++tap) {
        const int pixel = window.pixel(n, place, tap);
        if (pixel >= 0) sum += w[tap * all + c] * x[std::int64_t{1} * pixel * channels + c / times];
      }
      epilogue.element(row, c, sum);
    });
  }
};

template <>
struct Kernel<&op::depthwise_image_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand filter = call.in(0), up = call.in(1), out = call.out();
    const detail::Window window = detail::Window(out, up, call).back();
    const int channels = out[3], times = filter[3], all = channels * times, taps = window.taps();
    const T *const g = up.as<const T>(), *const w = filter.as<const T>();
    each_element(block, call.first(), out.size(), [&](int i) {
      const int c = i % channels, row = i / channels, n = row / window.places(), place = row % window.places();
      T sum = 0;
      for (int tap = 0; tap < taps; ++tap) {
        const int pixel = window.pixel(n, place, tap);
        if (pixel < 0) continue;
        for (int q = c * times; q < (c + 1) * times; ++q) {
          sum += w[(taps - 1 - tap) * all + q] * g[std::int64_t{1} * pixel * all + q];
        }
      }
      epilogue.element(row, c, sum);
    });
  }
};

template <>
struct Kernel<&op::depthwise_filter_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand image = call.in(0), up = call.in(1), out = call.out();
    const detail::Window window(image, up, call);
    const int channels = image[3], times = out[3], all = channels * times;
    const T *const x = image.as<const T>(), *const g = up.as<const T>();
    reduce_lines<kernel::Sum, T>(
        block, call, window.taps(), image[0] * window.places(), all,
        [&](int tap, int place, int c) {
          const int pixel = window.pixel(place / window.places(), place % window.places(), tap);
          return pixel < 0 ? T(0)
                           : x[std::int64_t{1} * pixel * channels + c / times] * g[std::int64_t{1} * place * all + c];
        },
        [&](int at, auto total) { epilogue.element(at / all, at % all, static_cast<T>(total)); });
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &up = s.in(1);
    const int all = out.extents[2] * out.extents[3];
    return LineParts::of(out.extents[0] * out.extents[1], all == 0 ? 0 : up.size / all, all).room();
  }
};

}  // namespace crochet::cuda
