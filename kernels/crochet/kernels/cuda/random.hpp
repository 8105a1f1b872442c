// SPDX-License-Identifier: Apache-2.0
// Random tensors on a device: the numbers of the CPU (kernels/cpu/random.hpp). A thread computes one Philox block: four
// words of a chunk of 64.
#pragma once
#include <crochet/graph/ops/random.hpp>
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/kernels/philox.hpp>
#include <crochet/kernels/simd_log.hpp>
#include <crochet/kernels/simd_trigonometry.hpp>

namespace crochet::cuda {

namespace detail {

/// Uniform in [0, 1): from 24 bits of one word, or from 53 bits of two.
CROCHET_DEVICE_INLINE float unit_of(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8U)) * 0x1p-24F;
}
CROCHET_DEVICE_INLINE double unit_of(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32U | low) >> 11U) * 0x1p-53;
}

/// The index of the first element in the tensor of the whole batch, whose rows the elements are.
CROCHET_DEVICE_INLINE std::int64_t first_element(const Call& call) {
  const Operand out = call.out();
  return out.rank() == 0 ? 0 : call.tables.first_row * call.attribute(2) * out.product(1, out.rank());
}

/// Calls make(words, first): the words of block b of a chunk, and the place in the result of the chunk's element b,
/// which may be outside. Size: the elements of a chunk. Word w belongs to element 16 w + b.
template <int Size, class Block, class Make>
CROCHET_DEVICE_INLINE void each_philox_block(Block& block, const Call& call, Make make) {
  constexpr int blocks = 16;
  const auto state = static_cast<std::uint64_t>(*call.in(0).template as<const std::int64_t>());
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const std::int64_t before = first_element(call), first_chunk = before / Size;
  const auto skipped = static_cast<int>(before - first_chunk * Size);
  const auto chunks = static_cast<int>((std::int64_t{skipped} + call.out().size() + Size - 1) / Size);
  each_element(block, call.first(), chunks * blocks, [&](int i) {
    const auto counter = static_cast<std::uint64_t>(first_chunk * blocks + i);
    const kernel::PhiloxBlock words =
        kernel::philox({low(counter), low(counter >> 32U), low(state), low(state >> 32U)},
                       {static_cast<std::uint32_t>(call.attribute(0)), static_cast<std::uint32_t>(call.attribute(1))});
    make(words, i / blocks * Size + i % blocks - skipped);
  });
}
/// Whether a result of n elements has element `at`.
CROCHET_DEVICE_INLINE bool is_inside(int at, int n) { return at >= 0 && at < n; }

}  // namespace detail

template <>
struct Kernel<&op::random_bool> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    const auto below = static_cast<std::uint64_t>(call.real(0) * 0x1p32);
    bool* const out = call.out().template as<bool>();
    const int n = call.out().size();
    detail::each_philox_block<64>(block, call, [&](const kernel::PhiloxBlock& words, int first) {
      for (int w = 0; w < 4; ++w) {
        if (detail::is_inside(first + 16 * w, n)) out[first + 16 * w] = words[static_cast<std::size_t>(w)] < below;
      }
    });
  }
};

template <>
struct Kernel<&op::random_uniform> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    T* const out = call.out().template as<T>();
    const int n = call.out().size();
    const auto put = [&](int at, T x) {
      if (detail::is_inside(at, n)) out[at] = x;
    };
    if constexpr (sizeof(T) == 4) {
      detail::each_philox_block<64>(block, call, [&](const kernel::PhiloxBlock& words, int first) {
        for (int w = 0; w < 4; ++w) put(first + 16 * w, detail::unit_of(words[static_cast<std::size_t>(w)]));
      });
    } else {
      detail::each_philox_block<32>(block, call, [&](const kernel::PhiloxBlock& words, int first) {
        put(first, detail::unit_of(words[0], words[2]));
        put(first + 16, detail::unit_of(words[1], words[3]));
      });
    }
  }
};

template <>
struct Kernel<&op::random_normal> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    T* const out = call.out().template as<T>();
    const int n = call.out().size();
    // Box-Muller: element e and the one half a chunk behind it. 1 - u lies in (0, 1], where the logarithm is finite.
    const auto pair = [&](int at, int behind, T u, T v) {
      const T r = simd::sqrt(simd::log(T(1) - u) * T(-2)), angle = v * T(2 * 3.14159265358979323846);
      if (detail::is_inside(at, n)) out[at] = r * simd::cos(angle);
      if (detail::is_inside(at + behind, n)) out[at + behind] = r * simd::sin(angle);
    };
    if constexpr (sizeof(T) == 4) {
      detail::each_philox_block<64>(block, call, [&](const kernel::PhiloxBlock& words, int first) {
        pair(first, 32, detail::unit_of(words[0]), detail::unit_of(words[2]));
        pair(first + 16, 32, detail::unit_of(words[1]), detail::unit_of(words[3]));
      });
    } else {
      detail::each_philox_block<32>(block, call, [&](const kernel::PhiloxBlock& words, int first) {
        pair(first, 16, detail::unit_of(words[0], words[1]), detail::unit_of(words[2], words[3]));
      });
    }
  }
};

}  // namespace crochet::cuda
