// SPDX-License-Identifier: Apache-2.0
// DeviceSink: where the elements of a loop with reductions go in one thread, for each access of the program.
#pragma once
#include <crochet/kernels/cuda/loop.hpp>
#include <crochet/kernels/loop/uses.hpp>
#include <crochet/kernels/running.hpp>

namespace crochet::cuda::detail {

/// The reduction of a program into access A: nothing, if there is none.
template <const Op* O, class T, BroadcastMode M>
class DeviceSink {
 public:
  using How = typename kernel::Reduction<O>::How;
  using Total = kernel::sum_t<How, T>;
  static constexpr bool by_columns = M == BroadcastMode::row, by_rows = M == BroadcastMode::column;
  static constexpr bool is_total = M == BroadcastMode::scalar;

  CROCHET_DEVICE_INLINE void add(simd::cell_t<T> x) { running_.add(x); }
  CROCHET_DEVICE_INLINE Total take() { return running_.take(); }
  CROCHET_DEVICE_INLINE static void finish(T* to, Total total, int n) {
    to[0] = static_cast<T>(kernel::Reduction<O>::template finish<simd::cell_t<T>>(total, n));
  }
  static CROCHET_DEVICE_INLINE Total nothing() { return How::template nothing<Total>; }

 private:
  kernel::Running<How, T, 1> running_;
};
struct NoSink {
  static constexpr bool by_columns = false, by_rows = false, is_total = false;
};
template <class P, std::size_t A, class R>
struct SinkFor {
  using type = NoSink;
};
template <class P, std::size_t A, class T, BroadcastMode M>
requires(kernel::UsesOf<P>::template reduction<static_cast<int>(A)>() !=
         nullptr) struct SinkFor<P, A, kernel::Ref<T, M>> {
  using type = DeviceSink<kernel::UsesOf<P>::template reduction<static_cast<int>(A)>(), T, M>;
};
template <std::size_t A, class S>
struct SinkSlot {
  S sink;
};
template <std::size_t A, class S>
CROCHET_DEVICE_INLINE S& sink_of(SinkSlot<A, S>& slot) {
  return slot.sink;
}

}  // namespace crochet::cuda::detail
