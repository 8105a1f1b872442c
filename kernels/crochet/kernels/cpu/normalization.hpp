// SPDX-License-Identifier: Apache-2.0
// Layer, root-mean-square and batch normalisation.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/kernels/cpu/column_sums.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// x viewed as rows along its last axis.
struct Rows {
  std::int64_t count = 1, n;

  explicit Rows(const Operand& x) : n(x[x.rank - 1]) {
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i + 1 < x.rank; ++i) count *= x[i];
  }
};

/// A row's mean and 1 / sqrt(variance + epsilon), as stored in memory.
template <class T>
struct Moments {
  T mean, scale;
};
template <class T>
const Moments<T>* moments_of(const Call& call) {
  return call.in[1].as<const Moments<T>>();
}

/// The sums of the elements of R rows, in T within blocks and in double between them. add(sums, index, how) adds the
/// rows' elements from an index on to their R vectors.
template <int R, class T, class Add>
CROCHET_ALWAYS_INLINE void sum_rows(std::int64_t n, double (&to)[R], Add add) {
  simd::in_sum_blocks(n, [&](std::int64_t from, std::int64_t some) {
    simd::vec<T> sums[R] = {};
    simd::along(some, [&](std::int64_t j, auto how) { add(sums, from + j, how); });
    for (int r = 0; r < R; ++r) to[r] += static_cast<double>(simd::across_sum(sums[r]));
  });
}

/// The moments of R rows at a time, so that the latencies of their sums overlap.
template <int R, class T>
CROCHET_ALWAYS_INLINE void find_moments(const T* x, std::int64_t n, T epsilon, bool centred, Moments<T>* to) {
  const T count = static_cast<T>(n);
  T mean[R] = {};
  double sums[R] = {}, squares[R] = {};
  if (centred) {
    sum_rows<R, T>(n, sums, [&](simd::vec<T>* all, std::int64_t j, auto how) {
      CROCHET_UNROLL
      for (int r = 0; r < R; ++r) all[r] += simd::load(x + r * n + j, how, T(0));
    });
    for (int r = 0; r < R; ++r) mean[r] = static_cast<T>(sums[r]) / count;
  }
  sum_rows<R, T>(n, squares, [&](simd::vec<T>* all, std::int64_t j, auto how) {
    CROCHET_UNROLL
    for (int r = 0; r < R; ++r) {
      const simd::vec<T> c = simd::load(x + r * n + j, how, mean[r]) - mean[r];
      all[r] += c * c;
    }
  });
  for (int r = 0; r < R; ++r) to[r] = {mean[r], T(1) / std::sqrt(static_cast<T>(squares[r]) / count + epsilon)};
}

template <bool Centred>
struct RowNorm {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Rows rows(call.in[0]);
    const T *gamma = call.in[2].as<const T>(), *beta = Centred ? call.in[3].as<const T>() : nullptr;
    const Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const T* x = call.in[0].as<const T>() + i * rows.n;
      const Moments<T> m = moments_of<T>(call)[i];
      const T shift = m.mean * m.scale;
      simd::along(rows.n, [&](std::int64_t j, auto how) {
        simd::vec<T> v = (simd::load(x + j, how, T(0)) * m.scale - shift) * simd::load(gamma + j, how, T(0));
        if constexpr (Centred) v += simd::load(beta + j, how, T(0));
        epilogue.vector(i, j, v, how);
      });
    }
  }
};

// With h = gamma dy and xhat the normalised x: dx = scale (h - mean(h) - xhat mean(h xhat)). The term mean(h) is
// omitted if not Centred.
template <bool Centred>
struct RowNormGradient {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Rows rows(call.in[0]);
    const Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const std::int64_t at = i * rows.n;
      row<T>(call.in[0].as<const T>() + at, moments_of<T>(call)[i], call.in[2].as<const T>() + at,
             call.in[3].as<const T>(), rows.n,
             [&](std::int64_t j, const simd::vec<T>& dx, auto how) { epilogue.vector(i, j, dx, how); });
    }
  }

 private:
  /// Calls put(j, vector of dx, how).
  template <class T, class Put>
  CROCHET_ALWAYS_INLINE static void row(const T* x, Moments<T> m, const T* up, const T* gamma, std::int64_t n,
                                        Put put) {
    const T shift = m.mean * m.scale, share = T(1) / static_cast<T>(n);
    const auto slope = [&](std::int64_t j, auto how) {
      return static_cast<simd::vec<T>>(simd::load(gamma + j, how, T(0)) * simd::load(up + j, how, T(0)));
    };
    const auto normal = [&](std::int64_t j, auto how) {
      return static_cast<simd::vec<T>>(simd::load(x + j, how, T(0)) * m.scale - shift);
    };
    double sums[2] = {};
    sum_rows<2, T>(n, sums, [&](simd::vec<T>* all, std::int64_t j, auto how) {
      const simd::vec<T> h = slope(j, how);
      all[0] += h;
      all[1] += h * normal(j, how);
    });
    const T mean = Centred ? static_cast<T>(sums[0]) * share : T(0), dot = static_cast<T>(sums[1]) * share;
    simd::along(n, [&](std::int64_t j, auto how) {
      put(j, static_cast<simd::vec<T>>(((slope(j, how) - mean) - normal(j, how) * dot) * m.scale), how);
    });
  }
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::row_moments> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::detail::Rows rows(call.in[0]);
    const T epsilon = static_cast<T>(call.attributes.reals[0]);
    const bool centred = call.attributes.ints[1] == 0;
    const kernel::Range mine = call.worker.part(rows.count);
    constexpr int many = 4;
    const T* x = call.in[0].as<const T>();
    auto* to = call.out.as<kernel::detail::Moments<T>>();
    std::int64_t i = mine.from;
    for (; i + many <= mine.to; i += many) {
      kernel::detail::find_moments<many>(x + i * rows.n, rows.n, epsilon, centred, to + i);
    }
    for (; i < mine.to; ++i) kernel::detail::find_moments<1>(x + i * rows.n, rows.n, epsilon, centred, to + i);
  }
};

template <>
struct Kernel<&op::layer_norm> : kernel::detail::RowNorm<true> {};
template <>
struct Kernel<&op::layer_norm_gradient> : kernel::detail::RowNormGradient<true> {};
template <>
struct Kernel<&op::rms_norm> : kernel::detail::RowNorm<false> {};
template <>
struct Kernel<&op::rms_norm_gradient> : kernel::detail::RowNormGradient<false> {};

template <>
struct Kernel<&op::row_norm_scale_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::detail::Rows rows(call.in[0]);
    const kernel::detail::SumParts parts(call.worker, rows.count * rows.n);
    sum<T>(call, rows, parts);
    kernel::detail::pass_sums<T>(call.worker, parts, rows.n, epilogue);
  }

 private:
  template <class T>
  [[gnu::noinline]] static void sum(const kernel::Call& call, const kernel::detail::Rows& rows,
                                    const kernel::detail::SumParts& parts) {
    const T *x = call.in[0].as<const T>(), *up = call.in[2].as<const T>();
    const auto* moments = kernel::detail::moments_of<T>(call);
    kernel::detail::sum_parts<T>(
        call.worker, parts, rows.count, rows.n, [&](std::int64_t i0, std::int64_t count, auto add) {
          simd::along(rows.n, [&](std::int64_t j, auto how) {
            simd::vec<T> sum{};
            for (std::int64_t i = i0; i < i0 + count; ++i) {
              const simd::vec<T> hat =
                  simd::load(x + i * rows.n + j, how, T(0)) * moments[i].scale - moments[i].mean * moments[i].scale;
              sum += hat * simd::load(up + i * rows.n + j, how, T(0));
            }
            add(j, sum, how);
          });
        });
  }
};

template <>
struct Kernel<&op::column_variance> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::detail::Rows rows(call.in[0]);
    const kernel::detail::SumParts parts(call.worker, rows.count * rows.n);
    sum<T>(call, rows, parts);
    kernel::detail::pass_sums<T>(call.worker, parts, rows.n, epilogue, static_cast<double>(rows.count));
  }

 private:
  template <class T>
  [[gnu::noinline]] static void sum(const kernel::Call& call, const kernel::detail::Rows& rows,
                                    const kernel::detail::SumParts& parts) {
    const T *x = call.in[0].as<const T>(), *mean = call.in[1].as<const T>();
    kernel::detail::sum_parts<T>(call.worker, parts, rows.count, rows.n,
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
                                 });
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
    T* const scale = call.worker.scratch<T>(rows.n);
    for (std::int64_t j = 0; j < rows.n; ++j) {
      scale[j] = gamma[j] / std::sqrt(variance[j] + static_cast<T>(call.attributes.reals[0]));
    }
    const kernel::Range mine = call.worker.part(rows.count);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      simd::along(rows.n, [&](std::int64_t j, auto how) {
        const simd::vec<T> c = simd::load(x + i * rows.n + j, how, T(0)) - simd::load(mean + j, how, T(0));
        const simd::vec<T> y = c * simd::load(scale + j, how, T(0)) + simd::load(beta + j, how, T(0));
        epilogue.vector(i, j, y, how);
      });
    }
  }
};

}  // namespace crochet
