// SPDX-License-Identifier: Apache-2.0
// The same step written by hand, without the library: the same counters and sums, the same stop, the same refusal after
// a stop, and the same handling of a failed step, which calls a function defined elsewhere.
#include <array>
#include <cstddef>
#include <string_view>

#include "same_code.hpp"

struct Stop {
  bool requested = false;
  [[gnu::cold, gnu::noinline]] void request(std::string_view who, std::string_view why);
};

enum class State : unsigned char { running, stopped };

struct Four {
  long runs = 0;
  float sum = 0;
  float largest = 0;
  int since = 0;
  float last = 0;
};

struct Loop {
  Stop stop;
  std::array<Four, (CROCHET_HOOKS + 3) / 4> watched;
  long steps = 0;
  float loss = 0;
  State state = State::running;

  /// A step in any other state: throws, or retries a failed step.
  [[gnu::cold, gnu::noinline]] void step_otherwise();
  /// Called while the exception is handled: recovers and retries, or rethrows it.
  [[gnu::cold, gnu::noinline]] void step_failed();
};

template <std::size_t I>
inline void watch(Loop& loop, float loss) {
  if constexpr (I < CROCHET_HOOKS) {
    Four& four = loop.watched[I / 4];
    if constexpr (I % 4 == 0) {
      ++four.runs;
    } else if constexpr (I % 4 == 1) {
      four.sum += loss;
    } else if constexpr (I % 4 == 2) {
      if (loss > four.largest) four.largest = loss;
      if (loss > too_large) loop.stop.request("Largest", "the loss is too large");
    } else {
      if (++four.since != 10) return;
      four.since = 0;
      four.last = loss;
    }
  }
}

[[gnu::always_inline]] inline void steady_step(Loop& loop) {
  const float loss = loop.loss = compute_loss();
  ++loop.steps;
  watch<0>(loop, loss), watch<1>(loop, loss), watch<2>(loop, loss), watch<3>(loop, loss);
  watch<4>(loop, loss), watch<5>(loop, loss), watch<6>(loop, loss), watch<7>(loop, loss);
  watch<8>(loop, loss), watch<9>(loop, loss), watch<10>(loop, loss), watch<11>(loop, loss);
  watch<12>(loop, loss), watch<13>(loop, loss), watch<14>(loop, loss), watch<15>(loop, loss);
  watch<16>(loop, loss), watch<17>(loop, loss), watch<18>(loop, loss), watch<19>(loop, loss);
  watch<20>(loop, loss), watch<21>(loop, loss), watch<22>(loop, loss), watch<23>(loop, loss);
  watch<24>(loop, loss), watch<25>(loop, loss), watch<26>(loop, loss), watch<27>(loop, loss);
  watch<28>(loop, loss), watch<29>(loop, loss), watch<30>(loop, loss), watch<31>(loop, loss);
#if CROCHET_HOOKS > 0
  if (loop.stop.requested) [[unlikely]]
    loop.state = State::stopped;
#endif
}

void step(Loop& loop) {
  if (loop.state != State::running) [[unlikely]]
    return loop.step_otherwise();
  try {
    steady_step(loop);
  } catch (...) {
    loop.step_failed();
  }
}
