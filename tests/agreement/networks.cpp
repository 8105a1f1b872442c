// SPDX-License-Identifier: Apache-2.0
// Products, convolutions, losses, and the networks of the benchmarks: values, and gradients of every weight.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

namespace {
constexpr Tensor layer(Tensor x, Tensor w, Tensor b) { return matmul(x, w) + b; }
constexpr Tensor features(Tensor x, Tensor w, Tensor b) { return max_pool(relu(conv2d(x, w) + b), 2); }
}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "matmul", [](auto a, auto b) { return matmul(a, b); }, normal<7, 13>{}, normal<13, 33>{});
  agree(
      "matmul_turned", [](auto a, auto b) { return matmul(a, b, {.a = true, .b = true}); }, normal<13, 7>{},
      normal<33, 13>{});
  agree(
      "matmul_row", [](auto a, auto b) { return matmul(a, b); }, normal<1, 131>{}, normal<131, 67>{});
  agree(
      "matmul_batched", [](auto a, auto b) { return matmul(a, b); }, normal<3, 2, 7, 13>{}, normal<2, 13, 5>{});
  agree(
      "matmul_batched_turned", [](auto a, auto b) { return matmul(a, b, {.b = true}); }, normal<6, 7, 13>{},
      normal<6, 5, 13>{});
  agree(
      "conv2d", [](auto x, auto w) { return conv2d(x, w); }, normal<2, 9, 11, 3>{}, normal<3, 3, 3, 20>{});
  agree(
      "conv2d_valid",
      [](auto x, auto w) {
        return conv2d(x, w, {2, 3}, Padding::valid);
      },
      normal<2, 9, 11, 3>{}, normal<3, 2, 3, 5>{});
  agree(
      "conv2d_same_strided",
      [](auto x, auto w) {
        return conv2d(x, w, {2, 2}, Padding::same);
      },
      normal<2, 9, 11, 3>{}, normal<5, 5, 3, 5>{});
  agree(
      "max_pool", [](auto x) { return max_pool(x, 2); }, normal<2, 8, 10, 5>{});
  agree(
      "max_pool_same",
      [](auto x) {
        return max_pool(x, {3, 3}, {2, 2}, Padding::same);
      },
      normal<2, 9, 11, 5>{});
  agree(
      "sparse_softmax_cross_entropy", [](auto z, auto y) { return sparse_softmax_cross_entropy(z * 5.0, y); },
      normal<17, 10>{}, classes<10, 17>{});
  agree(
      "softmax_cross_entropy", [](auto z, auto p) { return softmax_cross_entropy(z, square(p)); }, normal<17, 10>{},
      fixed<17, 10>{});

  agree(
      "mlp",
      [](auto x, auto y, auto w1, auto b1, auto w2, auto b2) {
        return sparse_softmax_cross_entropy(layer(relu(layer(x, w1 * 0.05, b1)), w2 * 0.1, b2), y);
      },
      normal<32, 784>{}, classes<10, 32>{}, normal<784, 128>{}, normal<128>{}, normal<128, 10>{}, normal<10>{});
  agree(
      "wide_mlp",
      [](auto x, auto y, auto w1, auto b1, auto w2, auto b2, auto w3, auto b3) {
        const Tensor h = relu(layer(relu(layer(x, w1 * 0.05, b1)), w2 * 0.06, b2));
        return sparse_softmax_cross_entropy(layer(h, w3 * 0.06, b3), y);
      },
      normal<16, 784>{}, classes<10, 16>{}, normal<784, 512>{}, normal<512>{}, normal<512, 512>{}, normal<512>{},
      normal<512, 10>{}, normal<10>{});
  agree(
      "cnn",
      [](auto x, auto y, auto w1, auto b1, auto w2, auto b2, auto w3, auto b3, auto w4, auto b4) {
        const Tensor h = features(features(x, w1 * 0.4, b1), w2 * 0.08, b2);
        return sparse_softmax_cross_entropy(layer(relu(layer(flatten(h), w3 * 0.025, b3)), w4 * 0.12, b4), y);
      },
      normal<4, 28, 28, 1>{}, classes<10, 4>{}, normal<3, 3, 1, 32>{}, normal<32>{}, normal<3, 3, 32, 64>{},
      normal<64>{}, normal<3136, 128>{}, normal<128>{}, normal<128, 10>{}, normal<10>{});
  agree(
      "chain_mean",
      [](auto x) { return reduce_mean(sigmoid(relu(exp(-sqrt(square(tanh(x * 1.1 + 0.3)) + 1.0)) * x) - 0.1)); },
      normal<1048576>{});
}
