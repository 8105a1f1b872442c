// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients on a device: a thread for each element of the result.
#pragma once
#include <crochet/graph/ops/pool.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/window.hpp>
#include <crochet/kernels/running.hpp>

namespace crochet::cuda {

namespace detail {

/// Calls f(element, row of the epilogue, channel, image, place) for this thread's elements of the result.
template <class Block, class F>
CROCHET_DEVICE_INLINE void each_result(Block& block, const Call& call, const Window& window, F f) {
  const int channels = call.out()[3];
  each_element(block, call.first(), call.out().size(), [&](int i) {
    const int c = i % channels, row = i / channels;
    f(i, row, c, row / window.places(), row % window.places());
  });
}

/// The elements of a window, in order: calls f(element, tap).
template <class T, class F>
CROCHET_DEVICE_INLINE void each_in_window(const T* x, const Window& w, int channels, int c, int n, int place, F f) {
  const int oy = place / w.x.places, ox = place % w.x.places;
  for (int i = w.y.first_inside(oy); i < w.y.end_inside(oy); ++i) {
    for (int k = w.x.first_inside(ox); k < w.x.end_inside(ox); ++k) {
      const int row = oy * w.y.stride - w.y.before + i, column = ox * w.x.stride - w.x.before + k;
      f(x[(std::int64_t{1} * (n * w.y.source + row) * w.x.source + column) * channels + c], i * w.x.taps + k);
    }
  }
}
/// The number of elements inside a window.
CROCHET_DEVICE_INLINE int count_inside(const Window& w, int place) {
  const int oy = place / w.x.places, ox = place % w.x.places;
  return (w.y.end_inside(oy) - w.y.first_inside(oy)) * (w.x.end_inside(ox) - w.x.first_inside(ox));
}

/// The gradient of an image: the sum of share(element of the pooled image, its place, tap) over the windows that cover
/// each pixel. `window` is that of the forward pass.
template <class T, class Block, class Epilogue, class Share>
CROCHET_DEVICE_INLINE void unpool(Block& block, const Call& call, const Window& window, const Epilogue& epilogue,
                                  Share share) {
  const Window back = window.back();
  const int channels = call.out()[3], taps = window.taps();
  each_result(block, call, back, [&](int, int row, int c, int n, int place) {
    T sum = 0;
    for (int tap = taps - 1; tap >= 0; --tap) {  // from the first place to the last
      const int pixel = back.pixel(n, place, taps - 1 - tap);
      if (pixel < 0) continue;
      sum += share(std::int64_t{1} * pixel * channels + c, pixel % window.places(), tap);
    }
    epilogue.element(row, c, sum);
  });
}

}  // namespace detail

template <>
struct Kernel<&op::max_pool> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand image = call.in(0);
    const detail::Window window(image, call.out(), call);
    detail::each_result(block, call, window, [&](int, int row, int c, int n, int place) {
      T top = -std::numeric_limits<T>::infinity();
      bool is_nan = false;
      detail::each_in_window(image.as<const T>(), window, image[3], c, n, place, [&](T e, int) {
        is_nan = is_nan || e != e;
        top = e > top ? e : top;
      });
      epilogue.element(row, c, is_nan ? std::numeric_limits<T>::quiet_NaN() : top);
    });
  }
};

template <>
struct Kernel<&op::max_pool_winners> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = kernel::in_t<Types>;
    using Index = typename Types::out;
    const Operand image = call.in(0);
    const detail::Window window(image, call.out(), call);
    Index* const out = call.out().template as<Index>();
    detail::each_result(block, call, window, [&](int i, int, int c, int n, int place) {
      T top = 0;
      int best = -1;
      detail::each_in_window(image.as<const T>(), window, image[3], c, n, place, [&](T e, int tap) {
        if (best < 0 || e > top) top = e, best = tap;
      });
      out[i] = static_cast<Index>(best);
    });
  }
};

template <>
struct Kernel<&op::max_pool_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Index = kernel::in_t<Types, 1>;
    const T* const up = call.in(0).template as<const T>();
    const Index* const winners = call.in(1).template as<const Index>();
    const detail::Window window(call.out(), call.in(0), call);
    detail::unpool<T>(block, call, window, epilogue, [&](std::int64_t at, int, int tap) {
      return winners[at] == static_cast<Index>(tap) ? up[at] : T(0);
    });
  }
};

template <>
struct Kernel<&op::mean_pool> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand image = call.in(0);
    const detail::Window window(image, call.out(), call);
    detail::each_result(block, call, window, [&](int, int row, int c, int n, int place) {
      kernel::Running<kernel::Sum, T, 1> sum;
      detail::each_in_window(image.as<const T>(), window, image[3], c, n, place, [&](T e, int) { sum.add(e); });
      epilogue.element(row, c,
                       static_cast<T>(sum.take()) * (T(1) / static_cast<T>(detail::count_inside(window, place))));
    });
  }
};

template <>
struct Kernel<&op::mean_pool_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const T* const up = call.in(0).template as<const T>();
    const detail::Window window(call.out(), call.in(0), call);
    detail::unpool<T>(block, call, window, epilogue, [&](std::int64_t at, int place, int) {
      return up[at] * (T(1) / static_cast<T>(detail::count_inside(window, place)));
    });
  }
};

}  // namespace crochet::cuda
