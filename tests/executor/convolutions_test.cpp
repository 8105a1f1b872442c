// SPDX-License-Identifier: Apache-2.0
// Convolutions, max pooling and their gradients on the CPU executor against the Oracle: strides, paddings, windows and
// channels that fit nothing.
#include "against_oracle.hpp"

namespace crochet {
namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;

/// A convolution, its gradients, and a pooling with its own, of one shape.
template <class T, std::int64_t H, std::int64_t W, std::int64_t C, std::int64_t K, std::int32_t Kh, std::int32_t Kw,
          std::int32_t Sh, std::int32_t Sw, Padding P>
struct Convolution {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor image = g.placeholder<T>("image", {batch, H, W, C});
    const Tensor scale = g.variable<T>("scale", {C}, uniform(0.5, 1.5)), bias = g.variable<T>("bias", {K}, uniform(-1, 1));
    const Tensor filter = g.variable<T>("filter", {Kh, Kw, C, K}, uniform(-1, 1));
    const Tensor x = image * scale;
    const Tensor y = g.name("convolved", conv2d(x, filter, {Sh, Sw}, P));
    const Tensor z = g.name("activated", tanh(y * 0.2 + bias));
    const Tensor pooled = g.name("pooled", max_pool(x, {Kh, Kw}, {Sh, Sw}, P));
    const Tensor loss = g.name("loss", reduce_mean(square(z) * z) + reduce_sum(square(pooled)));
    g.name("d x", gradient(loss, x));
    g.name("d filter", gradient(loss, filter));
    g.name("d bias", gradient(loss, bias));
    g.name("train", minimize(loss, SGD{0.01}));
  }
};

template <class Model, class T>
void test() {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    for (std::int64_t batch : {1, 2, 0, 5}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      if (batch > 0) both.run(Names<Name<"loss">>{}, Names<Name<"train">>{}, {batch});
      both.run(Names<Name<"convolved">, Name<"activated">, Name<"pooled">>{}, Names<>{}, {batch});
      if (batch > 0) both.run_all({batch});
    }
  }
}

constexpr Padding same = Padding::same, valid = Padding::valid;

TEST(Convolution, Same3x3) { test<Convolution<float, 7, 5, 3, 17, 3, 3, 1, 1, same>, float>(); }
TEST(Convolution, ValidStrided) { test<Convolution<double, 8, 11, 5, 3, 3, 2, 2, 3, valid>, double>(); }
TEST(Convolution, SameStridedEvenWindow) { test<Convolution<float, 9, 6, 1, 33, 2, 4, 2, 1, same>, float>(); }
TEST(Convolution, StrideBeyondTheWindow) { test<Convolution<double, 7, 7, 17, 1, 1, 2, 3, 3, same>, double>(); }

}  // namespace
}  // namespace crochet
