// SPDX-License-Identifier: Apache-2.0
// Random tensors. Numbers are generated 64 words at a time, by 16 parallel Philox blocks: element e of a chunk is word
// e / 16 of block e % 16. The mapping is the same on every machine.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/kernels/random.hpp>
#include <crochet/kernels/simd_log.hpp>
#include <crochet/kernels/simd_trigonometry.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

class RandomChunk {
  // Eight blocks' words, each in 64 bits, which are what its product needs.
  // NOLINTNEXTLINE(modernize-use-using): as in simd.hpp
  typedef std::uint64_t Words __attribute__((vector_size(64)));
  static constexpr int lanes = 8, blocks = 16;
  static constexpr std::uint64_t low = 0xFFFFFFFFU;

 public:
  static constexpr int size = 4 * blocks;
  std::uint32_t word[size];

  /// Chunk number `chunk` of a state and a stream. The rounds are those of kernels/random.hpp.
  [[gnu::noinline]] RandomChunk(std::uint64_t state, std::array<std::uint32_t, 2> key, std::uint64_t chunk) {
    for (int half = 0; half < blocks; half += lanes) {
      const Words block = Words{0, 1, 2, 3, 4, 5, 6, 7} + (chunk * blocks + static_cast<std::uint64_t>(half));
      Words c[4] = {block & low, block >> 32, Words{} + (state & low), Words{} + (state >> 32U)};
      std::array<std::uint32_t, 2> k = key;
      for (int round = 0; round < 10; ++round, k = next_philox_key(k)) {
        const Words a = (c[0] & low) * philox_factors[0], b = (c[2] & low) * philox_factors[1];
        c[0] = (b >> 32) ^ c[1] ^ std::uint64_t{k[0]};
        c[1] = b & low;
        c[2] = (a >> 32) ^ c[3] ^ std::uint64_t{k[1]};
        c[3] = a & low;
      }
      for (int i = 0; i < 4; ++i) {
        for (int lane = 0; lane < lanes; ++lane)
          word[i * blocks + half + lane] = static_cast<std::uint32_t>(c[i][lane]);
      }
    }
  }

  /// Uniform in [0, 1): from 24 bits of one word, or from 53 bits of two.
  float unit(int i) const { return static_cast<float>(static_cast<std::int32_t>(word[i] >> 8U)) * 0x1p-24F; }
  double unit(int i, int j) const {
    return static_cast<double>((std::uint64_t{word[i]} << 32U | word[j]) >> 11U) * 0x1p-53;
  }
};

/// The index of the first element in the tensor of the whole batch, whose rows the elements are.
template <class Backend>
std::int64_t first_element(const Call& call) {
  if constexpr (divides_batch<Backend>) {
    if (call.out.rank > 0) return call.exchange->first_row() * call.attributes.ints[2] * call.out.size(1);
  }
  return 0;
}

/// Calls make(chunk, values) for each chunk of `Size` elements that has some of this worker's, and stores those.
/// `first`: the index of the tensor's first element.
template <class T, int Size, class Make>
[[gnu::noinline]] void random(const Call& call, std::int64_t first, Make make) {
  const auto state = static_cast<std::uint64_t>(*call.in[0].as<const std::int64_t>());
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(call.attributes.ints[0]),
                                         static_cast<std::uint32_t>(call.attributes.ints[1])};
  const Range mine = call.worker.part(call.out.size(), Size);
  for (std::int64_t i = mine.from; i < mine.to;) {
    T values[Size];
    const std::int64_t before = (first + i) % Size, rest = Size - before;
    make(RandomChunk(state, key, static_cast<std::uint64_t>((first + i) / Size)), values);
    const std::int64_t n = mine.to - i < rest ? mine.to - i : rest;
    __builtin_memcpy(call.out.as<T>() + i, values + before, static_cast<std::size_t>(n) * sizeof(T));
    i += n;
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::random_bool> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    const auto below = static_cast<std::uint64_t>(call.attributes.reals[0] * 0x1p32);
    kernel::detail::random<bool, 64>(call, kernel::detail::first_element<Backend>(call),
                                     [=](const kernel::detail::RandomChunk& chunk, bool* to) {
                                       for (int i = 0; i < 64; ++i) to[i] = chunk.word[i] < below;
                                     });
  }
};

template <>
struct Kernel<&op::random_uniform> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    static constexpr int size = sizeof(T) == 4 ? 64 : 32;
    kernel::detail::random<T, size>(call, kernel::detail::first_element<Backend>(call),
                                    [](const kernel::detail::RandomChunk& chunk, T* to) {
                                      for (int i = 0; i < size; ++i) {
                                        if constexpr (size == 64) to[i] = chunk.unit(i);
                                        if constexpr (size == 32) to[i] = chunk.unit(i, i + 32);
                                      }
                                    });
  }
};

template <>
struct Kernel<&op::random_normal> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    static constexpr int size = sizeof(T) == 4 ? 64 : 32, half = size / 2;
    kernel::detail::random<T, size>(
        call, kernel::detail::first_element<Backend>(call), [](const kernel::detail::RandomChunk& chunk, T* to) {
          T u[half], v[half];
          for (int i = 0; i < half; ++i) {
            if constexpr (size == 64) u[i] = chunk.unit(i), v[i] = chunk.unit(i + 32);
            if constexpr (size == 32) u[i] = chunk.unit(i, i + 16), v[i] = chunk.unit(i + 32, i + 48);
          }
          for (int i = 0; i < half; i += simd::lanes) {
            // 1 - u lies in (0, 1], where the logarithm is finite.
            const simd::vec<T> r = simd::sqrt(simd::log(T(1) - simd::load<T, true>(u + i)) * T(-2));
            const simd::vec<T> angle = simd::load<T, true>(v + i) * T(2 * std::numbers::pi);
            simd::store(to + i, r * simd::cos(angle));
            simd::store(to + i + half, r * simd::sin(angle));
          }
        });
  }
};

}  // namespace crochet
