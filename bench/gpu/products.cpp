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

/// kind: "large product" or "product", the group of the table.
template <std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA = false, bool TransposeB = false>
void product(const Options& options, const std::string& kind, Precision precision) {
  const auto on = device(precision);
  if (on == nullptr) return;
  const std::string name = "product " + std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K) +
                           (TransposeA ? ", A transposed" : "") + (TransposeB ? ", B transposed" : "") + ", " +
                           name_of(precision);
  constexpr double m = M, n = N, k = K;
  measure_kernel<Product<M, N, K, TransposeA, TransposeB>, Computes<"c">>(
      name, kind + ", " + name_of(precision), {2 * m * n * k, 4 * (m * k + k * n + m * n)}, options, {.on = on});
}

void large_products(const Options& options, Precision precision) {
  product<4096, 4096, 4096>(options, "large product", precision);
  product<4096, 4096, 4096, true, false>(options, "large product", precision);
  product<4096, 4096, 4096, false, true>(options, "large product", precision);
  product<2048, 2048, 2048>(options, "large product", precision);
}

/// The products of W1 and W4, and smaller square ones.
void other_products(const Options& options) {
  const auto each = [&]<std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA>() {
    product<M, N, K, TransposeA>(options, "product", Precision::fp32);
  };
  each.operator()<1024, 1024, 1024, false>();
  each.operator()<512, 512, 512, false>();
  each.operator()<1024, 128, 784, false>();
  each.operator()<784, 128, 1024, true>();
  each.operator()<128, 128, 784, false>();
  each.operator()<32, 128, 784, false>();
  each.operator()<512, 384, 128, false>();
  each.operator()<512, 128, 512, false>();
}

}  // namespace

void measure_products(const Options& options) {
  if constexpr (is_gpu) {
    for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
      large_products(options, precision);
    }
    other_products(options);
  } else {
    product<33, 20, 65>(options, "product", Precision::fp32);
  }
}

}  // namespace bench
