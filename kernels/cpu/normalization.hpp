// SPDX-License-Identifier: Apache-2.0
// Layer, root-mean-square and batch normalisation. A row is read from memory once: what comes after finds it in the
// nearest cache. Gradients make a row's mean and scale again instead of reading them from memory.
#pragma once
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/kernels/cpu/column_sums.hpp>

namespace crochet {

namespace kernel::detail {

/// A row's mean (0 if it is not Centred) and 1 / sqrt(variance + epsilon).
template <bool Centred, class T>
struct RowMoments {
  T mean = T(0), scale;

  CROCHET_ALWAYS_INLINE RowMoments(const T* x, std::int64_t n, T epsilon) {
    if constexpr (Centred) {
      mean = simd::sum_along<T>(n, [&](std::int64_t j, auto how) { return simd::load(x + j, how, T(0)); }) /
             static_cast<T>(n);
    }
    const T squares = simd::sum_along<T>(n, [&](std::int64_t j, auto how) {
      const simd::vec<T> c = simd::load(x + j, how, mean) - mean;
      return c * c;
    });
    scale = T(1) / std::sqrt(squares / static_cast<T>(n) + epsilon);
  }
};

/// How x's memory is walked: rows along the last axis.
struct Rows {
  std::int64_t count = 1, n;

  explicit Rows(const Operand& x) : n(x[x.rank - 1]) {
    for (std::size_t i = 0; i + 1 < x.rank; ++i) count *= x[i];
  }
};

template <bool Centred>
struct RowNorm {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const Call& call) {
    using T = typename Types::out;
    const Rows rows(call.in[0]);
    const T *gamma = call.in[1].as<const T>(), *beta = Centred ? call.in[2].as<const T>() : nullptr;
    const Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const T* x = call.in[0].as<const T>() + i * rows.n;
      T* y = call.out.as<T>() + i * rows.n;
      const RowMoments<Centred, T> m(x, rows.n, static_cast<T>(call.attributes.reals[0]));
      const T shift = m.mean * m.scale;
      simd::along(rows.n, [&](std::int64_t j, auto how) {
        simd::vec<T> v = (simd::load(x + j, how, T(0)) * m.scale - shift) * simd::load(gamma + j, how, T(0));
        if constexpr (Centred) v += simd::load(beta + j, how, T(0));
        simd::store(y + j, v, how);
      });
    }
  }
};

// With h = gamma dy and xhat the normalised x: dx = scale (h - mean(h) - xhat mean(h xhat)); without mean(h) where
// nothing is centred.
template <bool Centred>
struct RowNormGradient {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const Call& call) {
    using T = typename Types::out;
    const Rows rows(call.in[0]);
    const Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const std::int64_t at = i * rows.n;
      row<T>(call.in[0].as<const T>() + at, call.in[1].as<const T>(), call.in[2].as<const T>() + at, rows.n,
             static_cast<T>(call.attributes.reals[0]), call.out.as<T>() + at);
    }
  }

 private:
  template <class T>
  CROCHET_ALWAYS_INLINE static void row(const T* x, const T* gamma, const T* up, std::int64_t n, T epsilon, T* out) {
    const RowMoments<Centred, T> m(x, n, epsilon);
    const auto slope = [&](std::int64_t j, auto how) {
      return static_cast<simd::vec<T>>(simd::load(gamma + j, how, T(0)) * simd::load(up + j, how, T(0)));
    };
    const auto centred = [&](std::int64_t j, auto how) {
      return static_cast<simd::vec<T>>(simd::load(x + j, how, m.mean) - m.mean);
    };
    const T count = static_cast<T>(n);
    const T dot = simd::sum_along<T>(n, [&](std::int64_t j, auto how) { return slope(j, how) * centred(j, how); }) /
                  count * m.scale * m.scale;
    const T mean = Centred ? simd::sum_along<T>(n, slope) / count : T(0);
    simd::along(n, [&](std::int64_t j, auto how) {
      simd::store(out + j, static_cast<simd::vec<T>>((slope(j, how) - mean - centred(j, how) * dot) * m.scale), how);
    });
  }
};

template <bool Centred>
struct RowNormScaleGradient {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Rows rows(call.in[0]);
    const T *x = call.in[0].as<const T>(), *up = call.in[1].as<const T>();
    const T epsilon = static_cast<T>(call.attributes.reals[0]);
    column_sums<T>(call.worker, rows.count, rows.n, epilogue, [&](std::int64_t i0, std::int64_t count, auto add) {
      T mean[rows_a_block], scale[rows_a_block];
      for (std::int64_t r = 0; r < count; ++r) {
        const RowMoments<Centred, T> m(x + (i0 + r) * rows.n, rows.n, epsilon);
        mean[r] = m.mean;
        scale[r] = m.scale;
      }
      simd::along(rows.n, [&](std::int64_t j, auto how) {
        simd::vec<T> sum{};
        for (std::int64_t r = 0; r < count; ++r) {
          const std::int64_t at = (i0 + r) * rows.n + j;
          sum += (simd::load(x + at, how, T(0)) - mean[r]) * (simd::load(up + at, how, T(0)) * scale[r]);
        }
        add(j, sum, how);
      });
    });
  }
};
}  // namespace kernel::detail

template <>
struct Kernel<&op::layer_norm> : kernel::detail::RowNorm<true> {};
template <>
struct Kernel<&op::layer_norm_gradient> : kernel::detail::RowNormGradient<true> {};
template <>
struct Kernel<&op::layer_norm_scale_gradient> : kernel::detail::RowNormScaleGradient<true> {};
template <>
struct Kernel<&op::rms_norm> : kernel::detail::RowNorm<false> {};
template <>
struct Kernel<&op::rms_norm_gradient> : kernel::detail::RowNormGradient<false> {};
template <>
struct Kernel<&op::rms_norm_scale_gradient> : kernel::detail::RowNormScaleGradient<false> {};

template <>
struct Kernel<&op::column_variance> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::detail::Rows rows(call.in[0]);
    const T *x = call.in[0].as<const T>(), *mean = call.in[1].as<const T>();
    kernel::detail::column_sums<T>(
        call.worker, rows.count, rows.n, epilogue,
        [&](std::int64_t i0, std::int64_t count, auto add) {
          simd::along(rows.n, [&](std::int64_t j, auto how) {
            const simd::vec<T> middle = simd::load(mean + j, how, T(0));
            simd::vec<T> sum{};
            for (std::int64_t r = 0; r < count; ++r) {
              const simd::vec<T> c = simd::load(x + (i0 + r) * rows.n + j, how, T(0)) - middle;
              sum += c * c;
            }
            add(j, sum, how);
          });
        },
        1.0 / static_cast<double>(rows.count));
  }
};

template <>
struct Kernel<&op::batch_norm> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::detail::Rows rows(call.in[0]);
    const T *x = call.in[0].as<const T>(), *mean = call.in[1].as<const T>(), *variance = call.in[2].as<const T>();
    const T *gamma = call.in[3].as<const T>(), *beta = call.in[4].as<const T>();
    T* const scale = call.worker.scratch<T>(2 * rows.n);
    T* const y = scale + rows.n;
    for (std::int64_t j = 0; j < rows.n; ++j) {
      scale[j] = gamma[j] / std::sqrt(variance[j] + static_cast<T>(call.attributes.reals[0]));
    }
    const kernel::Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      simd::along(rows.n, [&](std::int64_t j, auto how) {
        const simd::vec<T> c = simd::load(x + i * rows.n + j, how, T(0)) - simd::load(mean + j, how, T(0));
        simd::store(y + j, c * simd::load(scale + j, how, T(0)) + simd::load(beta + j, how, T(0)), how);
      });
      epilogue.row(0, i * rows.n, rows.n, y);
    }
  }
};

}  // namespace crochet
