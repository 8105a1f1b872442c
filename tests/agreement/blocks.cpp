// SPDX-License-Identifier: Apache-2.0
// Softmax and its relatives, losses, normalizations, attention, depthwise convolutions and the other poolings.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "softmax", [](auto x) { return softmax(x * 5.0); }, normal<7, 33>{});
  agree(
      "softmax_columns", [](auto x) { return softmax(x, 0); }, normal<7, 33>{});
  agree(
      "log_softmax", [](auto x) { return log_softmax(x * 100.0); }, normal<7, 33>{});
  agree(
      "logsumexp", [](auto x) { return logsumexp(x * 100.0); }, normal<7, 33>{});
  agree(
      "sigmoid_cross_entropy", [](auto z, auto p) { return sigmoid_cross_entropy(z * 20.0, p); }, normal<7, 33>{},
      fixed<7, 33>{});
  agree(
      "mean_squared_error", [](auto y, auto t) { return mean_squared_error(y, t); }, normal<7, 33>{}, normal<7, 33>{});
  agree(
      "mean_absolute_error", [](auto y, auto t) { return mean_absolute_error(y, t); }, normal<7, 33>{},
      normal<7, 33>{});
  agree(
      "huber_loss", [](auto y, auto t) { return huber_loss(y, t); }, normal<7, 33>{}, normal<7, 33>{});
  agree(
      "cross_entropy_weighted", [](auto z, auto y, auto w) { return sparse_softmax_cross_entropy(z, y, square(w)); },
      normal<17, 10>{}, classes<10, 17>{}, fixed<17>{});
  agree(
      "weighted_mean", [](auto x, auto w) { return weighted_mean(x, w); }, normal<17>{}, positive<17>{});
  agree(
      "accuracy", [](auto z, auto y) { return accuracy(z, y); }, fixed<67, 3>{}, classes<3, 67>{});
  agree(
      "binary_accuracy", [](auto z, auto p) { return binary_accuracy(z, p, 0.25); }, fixed<67>{}, positive<67>{});
  agree(
      "layer_norm", [](auto x, auto g, auto b) { return layer_norm(x, g, b); }, normal<5, 3, 37>{}, normal<37>{},
      normal<37>{});
  agree(
      "rms_norm", [](auto x, auto g) { return rms_norm(x, g); }, normal<7, 37>{}, normal<37>{});
  agree(
      "batch_norm", [](auto x, auto g, auto b) { return batch_norm_of_batch(x, g, b).y; }, normal<5, 3, 3, 19>{},
      normal<19>{}, normal<19>{});
  agree(
      "batch_norm_given", [](auto x, auto g, auto b, auto m, auto v) { return batch_norm(x, g, b, m, square(v)); },
      normal<5, 19>{}, normal<19>{}, normal<19>{}, fixed<19>{}, fixed<19>{});
  agree(
      "group_norm", [](auto x, auto g, auto b) { return group_norm(x, 3, g, b); }, normal<2, 5, 5, 12>{}, normal<12>{},
      normal<12>{});
  agree(
      "self_attention", [](auto qkv) { return self_attention(qkv, 4); }, normal<3, 17, 96>{});
  agree(
      "self_attention_causal", [](auto qkv) { return self_attention(qkv, 2, {.causal = true}); }, normal<2, 19, 60>{});
  agree(
      "dot_product_attention", [](auto q, auto k, auto v) { return scaled_dot_product_attention(q, k, v); },
      normal<2, 3, 7, 8>{}, normal<2, 3, 11, 8>{}, normal<2, 3, 11, 5>{});
  agree(
      "dot_product_attention_causal",
      [](auto q, auto k, auto v) { return scaled_dot_product_attention(q, k, v, {.causal = true}); },
      normal<3, 13, 8>{}, normal<3, 13, 8>{}, normal<3, 13, 8>{});
  agree(
      "dot_product_attention_seen",
      [](auto q, auto k, auto v, auto seen) { return scaled_dot_product_attention(q, k, v, seen); }, normal<2, 9, 4>{},
      normal<2, 6, 4>{}, normal<2, 6, 4>{}, flag<2, 9, 6>{});
  agree(
      "multi_head_attention_causal",
      [](auto x, auto in, auto out) {
        return matmul(self_attention(matmul(x, in * 0.2), 4, {.causal = true}), out * 0.2);
      },
      normal<2, 17, 24>{}, normal<24, 72>{}, normal<24, 24>{});
  agree(
      "depthwise_conv2d", [](auto x, auto w) { return depthwise_conv2d(x, w); }, normal<2, 9, 11, 6>{},
      normal<3, 3, 6, 1>{});
  agree(
      "conv2d_dilated",
      [](auto x, auto w) {
        return conv2d(x, w, {1, 1}, Padding::same, {2, 2});
      },
      normal<2, 9, 11, 3>{}, normal<3, 3, 3, 5>{});
  agree(
      "conv1d", [](auto x, auto w) { return conv1d(x, w, 2); }, normal<2, 17, 5>{}, normal<3, 5, 7>{});
  agree(
      "average_pool", [](auto x) { return average_pool(x, 2); }, normal<2, 8, 10, 5>{});
  agree(
      "global_average_pool", [](auto x) { return global_average_pool(x); }, normal<2, 7, 5, 9>{});
  agree(
      "global_max_pool", [](auto x) { return global_max_pool(x); }, normal<2, 7, 5, 9>{});
  agree(
      "encoder",
      [](auto x, auto wqkv, auto wo, auto g1, auto b1, auto w1, auto c1, auto w2, auto c2, auto g2, auto b2) {
        const Tensor a = matmul(self_attention(matmul(x, wqkv * 0.1), 4), wo * 0.1);
        const Tensor h = layer_norm(x + a, g1, b1);
        const Tensor up = relu(matmul(h, w1 * 0.1) + c1);
        return mean_squared_error(layer_norm(h + matmul(up, w2 * 0.05) + c2, g2, b2), stop_gradient(x));
      },
      normal<3, 20, 64>{}, normal<64, 192>{}, normal<64, 64>{}, normal<64>{}, normal<64>{}, normal<64, 256>{},
      normal<256>{}, normal<256, 64>{}, normal<64>{}, normal<64>{}, normal<64>{});
}
