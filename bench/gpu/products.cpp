// SPDX-License-Identifier: Apache-2.0
// Matrix products: large ones, and those of the workloads with their gradients.
#include "kernels.hpp"

namespace bench {
namespace {

/// op(A) op(B) of M x N results over a depth of K.
template <std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA = false, bool TransposeB = false>
struct Product {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto a = operand(g, "a", TransposeA ? crochet::Shape{K, M} : crochet::Shape{M, K});
    const auto b = operand(g, "b", TransposeB ? crochet::Shape{N, K} : crochet::Shape{K, N});
    g.name("c", matmul(a, b, {.a = TransposeA, .b = TransposeB}));
  }
};

template <std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA = false, bool TransposeB = false>
void product(const Options& options, const char* kind) {
  const std::string name = std::string("product ") + std::to_string(M) + "x" + std::to_string(N) + "x" +
                           std::to_string(K) + (TransposeA ? ", A transposed" : "") +
                           (TransposeB ? ", B transposed" : "");
  constexpr double m = M, n = N, k = K;
  measure_kernel<Product<M, N, K, TransposeA, TransposeB>, Computes<"c">>(
      name, kind, {2 * m * n * k, 4 * (m * k + k * n + m * n)}, options);
}

}  // namespace

void measure_products(const Options& options) {
  if constexpr (is_gpu) {
    product<4096, 4096, 4096>(options, "large product, fp32");
    product<4096, 4096, 4096, true, false>(options, "large product, fp32");
    product<4096, 4096, 4096, false, true>(options, "large product, fp32");
    product<2048, 2048, 2048>(options, "large product, fp32");
    product<1024, 1024, 1024>(options, "product, fp32");
    product<512, 512, 512>(options, "product, fp32");
    product<1024, 128, 784>(options, "product, fp32");
    product<784, 128, 1024, true, false>(options, "product, fp32");
    product<128, 128, 784>(options, "product, fp32");
    product<32, 128, 784>(options, "product, fp32");
    product<512, 384, 128>(options, "product, fp32");
    product<512, 128, 512>(options, "product, fp32");
  } else {
    product<33, 20, 65>(options, "product, fp32");
  }
}

}  // namespace bench
