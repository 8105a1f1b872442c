// SPDX-License-Identifier: Apache-2.0
// Random tensors. Numbers are made 64 words at a time, by 16 Philox blocks side by side: element e of a chunk is word
// e / 16 of block e % 16. The mapping is the same on every machine.
#pragma once
#include <crochet/graph/ops/random.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/random.hpp>

namespace crochet {

namespace kernel::detail {

struct RandomChunk {
  static constexpr int size = 64, blocks = 16;
  std::uint32_t word[size];

  /// Chunk number `chunk` of a state and a stream.
  RandomChunk(std::uint64_t state, std::array<std::uint32_t, 2> key, std::uint64_t chunk) {
    std::uint32_t *c0 = word, *c1 = word + blocks, *c2 = word + 2 * blocks, *c3 = word + 3 * blocks;
    for (int k = 0; k < blocks; ++k) {
      const std::uint64_t block = chunk * blocks + static_cast<std::uint64_t>(k);
      c0[k] = static_cast<std::uint32_t>(block);
      c1[k] = static_cast<std::uint32_t>(block >> 32U);
      c2[k] = static_cast<std::uint32_t>(state);
      c3[k] = static_cast<std::uint32_t>(state >> 32U);
    }
    for (int round = 0; round < 10; ++round) {
      for (int k = 0; k < blocks; ++k) {
        const PhiloxBlock c = philox_round({c0[k], c1[k], c2[k], c3[k]}, key);
        c0[k] = c[0];
        c1[k] = c[1];
        c2[k] = c[2];
        c3[k] = c[3];
      }
      key = next_philox_key(key);
    }
  }

  /// In [0, 1), from one word or two.
  double unit(int i) const { return static_cast<double>(word[i]) * 0x1p-32; }
  double unit(int i, int j) const {
    return static_cast<double>((std::uint64_t{word[i]} << 32U | word[j]) >> 11U) * 0x1p-53;
  }
};

/// Calls make(chunk, values) for this worker's chunks of `Size` elements, and stores them.
template <class T, int Size, class Make>
[[gnu::noinline]] void random(const Call& call, Make make) {
  const auto state = static_cast<std::uint64_t>(*call.in[0].as<const std::int64_t>());
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(call.attributes.ints[0]),
                                         static_cast<std::uint32_t>(call.attributes.ints[1])};
  const Range mine = call.worker.part(call.out.size(), Size);
  for (std::int64_t i = mine.from; i < mine.to; i += Size) {
    T values[Size];
    make(RandomChunk(state, key, static_cast<std::uint64_t>(i / Size)), values);
    const std::int64_t n = mine.to - i < Size ? mine.to - i : Size;
    __builtin_memcpy(call.out.as<T>() + i, values, static_cast<std::size_t>(n) * sizeof(T));
  }
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::random_bool> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    const auto below = static_cast<std::uint64_t>(call.attributes.reals[0] * 0x1p32);
    kernel::detail::random<bool, 64>(call, [=](const kernel::detail::RandomChunk& chunk, bool* to) {
      for (int i = 0; i < 64; ++i) to[i] = chunk.word[i] < below;
    });
  }
};

template <>
struct Kernel<&op::random_uniform> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    constexpr int size = sizeof(T) == 4 ? 64 : 32;
    kernel::detail::random<T, size>(call, [](const kernel::detail::RandomChunk& chunk, T* to) {
      for (int i = 0; i < size; ++i) {
        if constexpr (size == 64) to[i] = static_cast<T>(static_cast<std::int32_t>(chunk.word[i] >> 8U)) * 0x1p-24F;
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
    constexpr int size = sizeof(T) == 4 ? 64 : 32, half = size / 2;
    kernel::detail::random<T, size>(call, [](const kernel::detail::RandomChunk& chunk, T* to) {
      for (int i = 0; i < half; ++i) {
        const double u = size == 64 ? chunk.unit(i) : chunk.unit(i, i + 16);
        const double v = size == 64 ? chunk.unit(i + 32) : chunk.unit(i + 32, i + 48);
        // 1 - u lies in (0, 1], where the logarithm is finite.
        const double r = std::sqrt(-2 * std::log(1 - u)), angle = 2 * std::numbers::pi * v;
        to[i] = static_cast<T>(r * std::cos(angle));
        to[i + half] = static_cast<T>(r * std::sin(angle));
      }
    });
  }
};

}  // namespace crochet
