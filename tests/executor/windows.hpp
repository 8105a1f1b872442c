// SPDX-License-Identifier: Apache-2.0
// Models with sliding windows over images, against the Oracle.
#pragma once
#include "against_oracle.hpp"

namespace crochet {

inline constexpr Padding same = Padding::same, valid = Padding::valid;

/// Runs a model of learn() with batches of several sizes, including an empty one, and one to three threads.
template <class Model, class T>
void test_windows() {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, std::is_same_v<T, float> ? 2e-5 : 1e-12);
    for (std::int64_t batch : {1, 2, 0, 7}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run(Names<Name<"y">>{}, Names<>{}, {batch});
      if (batch == 0) continue;  // the mean of an empty batch is an error
      both.run(Names<Name<"loss">, Name<"y">, Name<"activated">, Name<"d x">>{}, Names<Name<"train">>{}, {batch});
    }
  }
}

/// image_of(): an image [H, W, C], scaled by a variable. learn(): the loss and training of a tensor computed from it.
template <class T, std::int64_t H, std::int64_t W, std::int64_t C>
constexpr Tensor image_of(GraphBuilder& g) {
  const Tensor image = g.placeholder<T>("image", {g.dynamic("batch"), H, W, C});
  return image * g.variable<T>("scale", {C}, uniform(0.5, 1.5));
}
constexpr void learn(GraphBuilder& g, Tensor x, Tensor y) {
  g.name("y", y);
  const Tensor bias = g.variable("bias", y.dtype(), {y.shape()[y.shape().rank - 1]}, uniform(-1, 1), true);
  const Tensor z = g.name("activated", tanh(y * 0.2 + bias));
  const Tensor loss = g.name("loss", reduce_mean(square(z) * z));
  g.name("d x", gradient(loss, x));
  g.name("train", minimize(loss, SGD{0.01}));
}

/// A convolution of H x W pixels of C channels with K filters of Kh x Kw.
template <class T, std::int64_t H, std::int64_t W, std::int64_t C, std::int64_t K, std::int32_t Kh, std::int32_t Kw,
          Padding P, std::int32_t Sh = 1, std::int32_t Sw = 1, std::int32_t Dh = 1, std::int32_t Dw = 1>
struct Convolution {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, H, W, C>(g);
    const Tensor filter = g.variable<T>("filter", {Kh, Kw, C, K}, uniform(-1, 1));
    learn(g, x, conv2d(x, filter, {Sh, Sw}, P, {Dh, Dw}));
  }
};

}  // namespace crochet
