// SPDX-License-Identifier: Apache-2.0
// Group normalisation: one image at a time, with vectors across all channels.
#pragma once
#include <array>
#include <cstddef>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/kernels/cpu/column_sums.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// Processes images [places, channels], one after the other, with four arrays of `channels` numbers.
template <class T>
class Groups {
 public:
  /// `memory`: scratch(channels) numbers.
  Groups(const Call& call, T* memory)
      : images(call.in[0][0]),
        channels(call.in[0][call.in[0].rank - 1]),
        places(call.in[0].size(1) / (channels == 0 ? 1 : channels)),
        wide_(channels / call.attributes.ints[0]),
        epsilon_(static_cast<T>(call.attributes.reals[0])),
        mean(memory),
        scale(memory + channels),
        first(memory + 2 * channels),
        second(memory + 3 * channels) {}
  static std::int64_t scratch(const Operand& x) { return 4 * x[x.rank - 1]; }

  /// Computes the mean and scale of every channel's group, in `mean` and `scale`.
  void find_moments(const T* x) const {
    find_moments(x, none_, [](auto&&...) {});
  }
  /// The same, and in the pass over the squares N further sums, of what more(sums, offset in the image, channel, vector
  /// less the mean, how) adds.
  template <std::size_t N, class More>
  CROCHET_ALWAYS_INLINE void find_moments(const T* x, const std::array<T*, N>& sums, More more) const {
    sum_places(std::array{mean}, [&](simd::vec<T>* to, std::int64_t at, std::int64_t, auto how) {
      to[0] += simd::load(x + at, how, T(0));
    });
    spread(mean);
    std::array<T*, N + 1> all{scale};
    for (std::size_t n = 0; n < N; ++n) all[n + 1] = sums[n];
    sum_places(all, [&](simd::vec<T>* to, std::int64_t at, std::int64_t j, auto how) {
      const simd::vec<T> c = centred(x, at, j, how);
      to[0] += c * c;
      more(to + 1, at, j, c, how);
    });
    spread(scale);
    for (std::int64_t j = 0; j < channels; ++j) scale[j] = T(1) / std::sqrt(scale[j] + epsilon_);
  }
  template <class How>
  CROCHET_ALWAYS_INLINE simd::vec<T> centred(const T* x, std::int64_t at, std::int64_t j, How how) const {
    return simd::load(x + at, how, T(0)) - simd::load(mean + j, how, T(0));
  }
  /// N sums over all positions, per channel, in T within blocks of positions and in double between them: add(sums,
  /// offset in the image, channel, how) adds a position.
  template <std::size_t N, class Add>
  CROCHET_ALWAYS_INLINE void sum_places(const std::array<T*, N>& to, Add add) const {
    constexpr std::int64_t apart = 4;  // sums side by side: one would wait for its last addition
    constexpr std::int64_t block = 128 * apart;
    simd::along(channels, [&](std::int64_t j, auto how) {
      simd::vec<double> totals[N] = {};
      for (std::int64_t p = 0; p < places;) {
        simd::vec<T> sums[apart][N] = {};
        const std::int64_t end = places - p < block ? places : p + block;
        for (; p + apart <= end; p += apart) {
          CROCHET_UNROLL
          for (std::int64_t k = 0; k < apart; ++k) add(sums[k], (p + k) * channels + j, j, how);
        }
        for (; p < end; ++p) add(sums[0], p * channels + j, j, how);
        for (std::size_t n = 0; n < N; ++n) {
          const simd::vec<T> sum = (sums[0][n] + sums[1][n]) + (sums[2][n] + sums[3][n]);
          totals[n] += simd::convert<T, double, true>(sum);
        }
      }
      for (std::size_t n = 0; n < N; ++n) simd::store(to[n] + j, simd::convert<double, T, true>(totals[n]), how);
    });
  }
  /// Replaces every channel's number by the mean of its group.
  void spread(T* of) const {
    for (std::int64_t g = 0; g < channels; g += wide_) {
      double sum = 0;
      for (std::int64_t k = 0; k < wide_; ++k) sum += static_cast<double>(of[g + k]);
      for (std::int64_t k = 0; k < wide_; ++k) of[g + k] = static_cast<T>(sum / static_cast<double>(wide_ * places));
    }
  }
  /// Calls f(place, offset in the image, channel, how) for every vector.
  template <class F>
  CROCHET_ALWAYS_INLINE void each(F f) const {
    for (std::int64_t p = 0; p < places; ++p) {
      simd::along(channels, [&](std::int64_t j, auto how) { f(p, p * channels + j, j, how); });
    }
  }

  std::int64_t images, channels, places;

 private:
  static constexpr std::array<T*, 0> none_{};
  std::int64_t wide_;
  T epsilon_;

 public:
  T *mean, *scale, *first, *second;
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::group_norm> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Groups = kernel::detail::Groups<T>;
    const Groups g(call, call.worker.scratch<T>(Groups::scratch(call.in[0])));
    const T *gamma = call.in[1].as<const T>(), *beta = call.in[2].as<const T>();
    const kernel::Range mine = call.worker.part(g.images);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const T* x = call.in[0].as<const T>() + i * g.places * g.channels;
      g.find_moments(x);
      for (std::int64_t j = 0; j < g.channels; ++j) g.scale[j] *= gamma[j];
      g.each([&](std::int64_t p, std::int64_t at, std::int64_t j, auto how) {
        const simd::vec<T> y =
            g.centred(x, at, j, how) * simd::load(g.scale + j, how, T(0)) + simd::load(beta + j, how, T(0));
        epilogue.vector(i * g.places + p, j, y, how);
      });
    }
  }
};

// As for layer_norm: with h = gamma dy, dx = scale (h - mean(h) - xhat mean(h xhat)); the means are the group's.
template <>
struct Kernel<&op::group_norm_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Groups = kernel::detail::Groups<T>;
    const Groups g(call, call.worker.scratch<T>(Groups::scratch(call.in[0])));
    const kernel::Range mine = call.worker.part(g.images);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      const std::int64_t begin = i * g.places * g.channels;
      image(g, call.in[0].as<const T>() + begin, call.in[1].as<const T>(), call.in[2].as<const T>() + begin,
            [&](std::int64_t p, std::int64_t j, const simd::vec<T>& dx, auto how) {
              epilogue.vector(i * g.places + p, j, dx, how);
            });
    }
  }

 private:
  /// Calls put(place, channel, vector of dx, how).
  template <class T, class Put>
  CROCHET_ALWAYS_INLINE static void image(const kernel::detail::Groups<T>& g, const T* x, const T* gamma, const T* up,
                                          Put put) {
    const auto slope = [&](std::int64_t at, std::int64_t j, auto how) {
      return static_cast<simd::vec<T>>(simd::load(gamma + j, how, T(0)) * simd::load(up + at, how, T(0)));
    };
    g.find_moments(x, std::array{g.first, g.second},
                   [&](simd::vec<T>* sums, std::int64_t at, std::int64_t j, const simd::vec<T>& centred, auto how) {
                     const simd::vec<T> h = slope(at, j, how);
                     sums[0] += h;
                     sums[1] += h * centred;
                   });
    g.spread(g.first);
    g.spread(g.second);
    for (std::int64_t j = 0; j < g.channels; ++j) g.second[j] *= g.scale[j] * g.scale[j];
    g.each([&](std::int64_t p, std::int64_t at, std::int64_t j, auto how) {
      const simd::vec<T> dx = (slope(at, j, how) - simd::load(g.first + j, how, T(0)) -
                               g.centred(x, at, j, how) * simd::load(g.second + j, how, T(0))) *
                              simd::load(g.scale + j, how, T(0));
      put(p, j, dx, how);
    });
  }
};

template <>
struct Kernel<&op::group_norm_scale_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::detail::SumParts parts(call.worker, call.in[0].size());
    const std::int64_t channels = call.in[0][call.in[0].rank - 1];
    sum<T>(call, channels, parts);
    kernel::detail::pass_sums<T>(call.worker, parts, channels, epilogue);
  }

 private:
  template <class T>
  [[gnu::noinline]] static void sum(const kernel::Call& call, std::int64_t channels,
                                    const kernel::detail::SumParts& parts) {
    using Groups = kernel::detail::Groups<T>;
    const T *x = call.in[0].as<const T>(), *up = call.in[1].as<const T>();
    // After the sums, which are at the start of the scratch memory.
    const std::int64_t room = parts.room(channels);
    double* const sums = call.worker.scratch<double>(room + Groups::scratch(call.in[0]));
    const Groups g(call, reinterpret_cast<T*>(sums + room));
    kernel::detail::sum_parts<T>(
        call.worker, parts, g.images, channels, [&](std::int64_t i0, std::int64_t count, auto add) {
          for (std::int64_t i = i0; i < i0 + count; ++i) {
            const std::int64_t begin = i * g.places * channels;
            g.find_moments(x + begin, std::array{g.first},
                           [&](simd::vec<T>* to, std::int64_t at, std::int64_t, const simd::vec<T>& centred, auto how) {
                             to[0] += simd::load(up + begin + at, how, T(0)) * centred;
                           });
            simd::along(channels, [&](std::int64_t j, auto how) {
              add(j, static_cast<simd::vec<T>>(simd::load(g.first + j, how, T(0)) * simd::load(g.scale + j, how, T(0))),
                  how);
            });
          }
        });
  }
};

}  // namespace crochet
