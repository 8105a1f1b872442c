// SPDX-License-Identifier: Apache-2.0
// Elementwise steps on a device: a thread evaluates the program at several elements at a time.
#pragma once
#include <crochet/kernels/cuda/call.hpp>

namespace crochet::cuda {

namespace detail {

/// The number of neighbouring elements that a thread loads and stores at once.
inline constexpr int vector_elements = 4;
/// Neighbours that are loaded and stored at once.
template <class T, int N>
struct alignas(N * sizeof(T)) Vector {
  T of[N];
};

/// Whether no access depends on the row or the column alone, so that rows need not be told apart.
template <class R>
inline constexpr bool is_flat = false;
template <class I, class... R>
inline constexpr bool is_flat<kernel::RefSlots<I, R...>> = (R::is_flat && ...);

/// Whether vectors of all accesses are aligned.
template <std::size_t... I, class... R>
CROCHET_DEVICE_INLINE bool are_aligned(const kernel::RefSlots<std::index_sequence<I...>, R...>& refs) {
  std::uint64_t low = 0;
  ((low |= R::follows_columns
               ? reinterpret_cast<std::uint64_t>(kernel::ref<I>(refs).data) % (vector_elements * sizeof(*R::data))
               : 0),
   ...);
  return low == 0;
}

/// Evaluates a program at `U` elements from position `at` on, in row-major order.
template <int U, class P, class R>
CROCHET_DEVICE_INLINE void evaluate_at(const R& refs, int at, int columns) {
  constexpr const char* no_root = nullptr;
  if constexpr (is_flat<R>) {
    kernel::evaluate<1, U>(P{}, refs, 0, at, no_root);
  } else {
    const int i = at / columns;
    kernel::evaluate<1, U>(P{}, refs, i, at - i * columns, no_root);
  }
}

}  // namespace detail

/// Runs an elementwise step without reductions.
template <class P, class R, class Block>
CROCHET_DEVICE_INLINE void loop(const Block& block, const Call& call) {
  constexpr int U = detail::vector_elements;
  const R refs = RefsOf<R>::make(call);
  const int columns = call.step.columns, n = call.step.rows * columns;
  int vectors = 0;
  if ((detail::is_flat<R> || columns % U == 0) && detail::are_aligned(refs)) {
    vectors = n / U;
    each_element(block, call.first(), vectors, [&](int v) { detail::evaluate_at<U, P>(refs, v * U, columns); });
  }
  each_element(block, call.first(), n - vectors * U,
               [&](int k) { detail::evaluate_at<1, P>(refs, vectors * U + k, columns); });
}

/// Runs a step on scalars.
template <class P, class R, class Block>
CROCHET_DEVICE_INLINE void once(const Block& block, const Call& call) {
  if (block.block() == call.first() && block.thread() == 0) detail::evaluate_at<1, P>(RefsOf<R>::make(call), 0, 1);
}

}  // namespace crochet::cuda
