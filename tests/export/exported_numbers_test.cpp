// SPDX-License-Identifier: Apache-2.0
// Exported headers of every operation, compiled by g++ and clang, against the CPU executor.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/graph/layers/attention.hpp>
#include <crochet/graph/layers/normalization.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/top_k.hpp>

#include "exported_models.hpp"

namespace crochet {
namespace exported_numbers_test {

using exported_models::width;

struct Cnn {
  static constexpr std::string_view name = "Cnn";
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width});
    const Tensor image = reshape(x, {x.shape()[0], 2, 3, 2});
    const Tensor first = relu(batch_norm(conv2d(image, 4, {3, 3}, "first"), "norm", false));
    const Tensor wide = depthwise_conv2d(first, {2, 2}, "depthwise", {.stride = {1, 2}, .multiplier = 2});
    g.name("y", dense(flatten(max_pool(wide, {2, 2}, {1, 1}, Padding::same)), 5, "out"));
  }
};
struct Transformer {
  static constexpr std::string_view name = "Transformer";
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width});
    const Tensor tokens = reshape(x, {x.shape()[0], 3, 4});
    const Tensor seen = tokens +
                        multi_head_self_attention(layer_norm(tokens, "norm"), 2, "attention", {.causal = true}) +
                        self_attention(concat({tokens, tokens, tokens}, 2), 1);
    const Tensor hidden = gelu(dense(rms_norm(seen, "norm2"), 8, "up"));
    g.name("y", reshape(seen + dense(hidden, 4, "down"), {x.shape()[0], 12}));
  }
};
/// Operations that the networks do not have. Each result is a row of floats.
struct Operations {
  static constexpr std::string_view name = "Operations";
  static constexpr Tensor row(Tensor x) {
    return reshape(x.dtype() == DType::float32 ? x : cast<float>(x), {x.graph->dynamic("batch"), rest});
  }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, width}), p = abs(x) + 0.25, m = reshape(x, {batch, 3, 4});
    const Tensor weights = g.variable<float>("weights", {4, 4}, glorot_uniform());
    const Tensor whole = cast<std::int32_t>(x * 9), image = reshape(x, {batch, 3, 2, 2});
    const Tensor functions = concat({exp(x), expm1(x), log(p), log1p(p), sqrt(p)}, 1);
    const Tensor angles = concat({sin(x), cos(x), asin(x), acos(x), atan(x), atan2(x, p)}, 1);
    const Tensor others = concat({asinh(x), acosh(p + 1), atanh(x), erf(x), erfc(x), pow(p, x)}, 1);
    const Tensor active = concat({sigmoid(x), softplus(x), leaky_relu(x), elu(x), sign(x), square(x)}, 1);
    const Tensor rounded = concat({floor(x * 3), ceil(x * 3), round(x * 3), trunc(x * 3), minimum(x, p), rsqrt(p)}, 1);
    const Tensor logic = row(logical_or(logical_and(less(x, 0.1), greater(x, -0.1)), logical_not(less_equal(x, 0.3))));
    const Tensor integers = row(concat({whole / 4, whole * 3 - whole, maximum(whole, -whole), abs(whole)}, 1));
    const Tensor rows = concat({log_softmax(x), softmax(x, -1), row(softmax(m, 1)), row(logsumexp(m, 1))}, 1);
    const Tensor reduced =
        concat({reduce_sum(m, {1}), reduce_mean(m, {2}), reduce_max(m, {1}), reduce_min(m, {2}), reduce_prod(m, {1}),
                row(argmax(m, 2)), reduce_prod(concat({m * 1e30, m * 1e-30}, 1), {1})},
               1);
    const Tensor tests =
        concat({row(argmin(m, 1)), row(reduce_any(greater(m, 0.2), {1})), row(reduce_all(less(m, 0.2), {2}))}, 1);
    const Tensor products = concat(
        {row(matmul(m, weights, {.b = true})), row(matmul(m, swap_axes(m, 1, 2))), row(matmul(m, m, {.b = true}))}, 1);
    const Tensor moved =
        concat({row(transpose(m, {0, 2, 1})), slice(x, 1, 1, 10, 3), slice(x, 1, -2, to_end, -2),
                row(m * reduce_max(m, {2}, keep_dims)), row(broadcast_to(slice(m, 1, 0, 1), {batch, 3, 4}))},
               1);
    const Tensor gathered = concat({row(gather(weights, whole)), cumulative_sum(x, 1),
                                    row(cumulative_sum(m, 1, {.exclusive = true, .reverse = true}))},
                                   1);
    const Tensor pooled =
        concat({row(average_pool(image, {2, 2}, {2, 1}, Padding::same)), row(group_norm(image, 2, "group"))}, 1);
    const Tensor hot = concat({row(one_hot<float>(whole, 3)), row(self_attention(reshape(x, {batch, 4, 3}), 1))}, 1);
    const Tensor first = concat({functions, angles, others, active, rounded, logic}, 1);
    const Tensor second = concat({integers, rows, reduced, tests, products, moved}, 1);
    g.name("y", concat({first, second, gathered, pooled, hot}, 1));
  }
};

/// Values at the edges of definitions: indices outside, NaN and infinity, views of numbers, long sums.
struct Edges {
  static constexpr std::string_view name = "Edges";
  static constexpr Tensor row(Tensor x) { return Operations::row(x); }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, width}), m = reshape(x, {batch, 3, 4}), p = abs(x) + 0.25;
    const Tensor outside = take_along_rows(m, cast<std::int32_t>(m * 20));
    const Tensor seldom = select(greater(x, 0.3), sqrt(-p), select(greater(x, 0.0), exp(p * 1000), log(x * 0.0)));
    const Tensor odd = reshape(seldom, {batch, 3, 4});
    const Tensor sums = concat({logsumexp(odd, 2), logsumexp(odd, 1), logsumexp(slice(odd, 2, 0, 2), 2)}, 1);
    const Tensor two = expand_dims(g.constant(2.F), 0), rows = reshape(g.count(batch, DType::float32), {1});
    const Tensor constants = minimum(x, g.constant(DType::float32, 1e300)) * two + rows;
    const Tensor steps = row(m * cast<float>(iota<std::int32_t>(g, 4, 0.75, 1.75)));
    const Tensor running = cumulative_sum(concat({x, x * 1e6, x * -1e6, x}, 1), 1);
    const Tensor waves = sin(iota<float>(g, 2048, 1, 2.5)) + 2.0;
    const Tensor many = reshape(p, {batch, 1, width}) * reshape(waves, {1, 2048, 1}),
                 lines = reshape(many, {batch, rest});
    const Tensor total = reduce_sum(many, {1}) + reduce_mean(many, {1}) * 1e3;
    g.name("y", concat({row(outside), row(sums), constants, steps, running, row(total),
                        row(reduce_mean(lines, {1}, keep_dims)),
                        slice(layer_norm(slice(lines, 1, 0, 300), "norm"), 1, 0, width)},
                       1));
  }
};

/// Quotients and remainders: negative operands, zeros, infinity, the least integer, bytes.
struct Divisions {
  static constexpr std::string_view name = "Divisions";
  static constexpr Tensor row(Tensor x) { return Operations::row(x); }
  static constexpr Tensor all(Tensor a, Tensor b) {
    return concat({row(a / b), row(floor_divide(a, b)), row(mod(a, b))}, 1);
  }
  static constexpr Tensor infinite(Tensor x) { return select(greater(x, 0.3), exp(x * 1000), x); }
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width}), back = reverse(x, 1);
    const Tensor a = cast<std::int32_t>(x * 90), b = cast<std::int32_t>(back * 7);
    const Tensor least = g.constant(DType::int32, -0x1p31), most = g.constant(DType::int64, -0x1p63);
    const Tensor wide = cast<std::int64_t>(a), by = cast<std::int64_t>(b);
    const Tensor bytes = cast<std::uint8_t>(abs(x) * 450), by_bytes = cast<std::uint8_t>(abs(back) * 9);
    const Tensor edges = concat({all(select(less(a, 5), least, a), b), all(select(less(wide, 5), most, wide), by)}, 1);
    const Tensor numbers = concat({row(floor_divide(a, -4)), row(mod(a, -4)), row(mod(x, -0.125))}, 1);
    const Tensor doubles = all(cast<double>(x), cast<double>(trunc(back * 5)) / 4);
    const Tensor reals = concat({all(x, trunc(back * 5) / 4), all(x, infinite(back)), all(infinite(x), back)}, 1);
    g.name("y", concat({all(a, b), all(wide, by), all(bytes, by_bytes), edges, numbers, doubles, reals}, 1));
  }
};
/// Indices, sums by index and losses; numbers as operands of kernels.
struct Indices {
  static constexpr std::string_view name = "Indices";
  static constexpr Tensor row(Tensor x) { return Operations::row(x); }
  static constexpr Tensor best(Tensor x, int k) { return row(top_k(x, k).indices); }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, width}), m = reshape(x, {batch, 3, 4});
    const Tensor whole = cast<std::int32_t>(x * 9), odd = select(greater(x, 0.2), sqrt(-x), trunc(x * 3));
    const Tensor tops = concat({best(x, 12), best(whole, 5), best(odd, 7), best(m, 1), best(m, 4),
                                best(cast<std::uint8_t>(abs(x) * 9), 6), row(top_k(m, 2).values)},
                               1);
    const Tensor ids = cast<std::int32_t>(slice(reshape(x, {rest}), 0, 0, 4) * 6);  // some are negative
    const Tensor bytes = cast<std::uint8_t>(abs(x) * 400);
    const Tensor sums =
        concat({row(segment_sum(m, ids, 3, 2)), row(segment_sum(reshape(whole, {batch, 4, 3}), ids, 2, 1)),
                row(segment_sum(reshape(bytes, {batch, 4, 3}), cast<std::uint8_t>(abs(ids)), 2, 1)),
                row(segment_sum(x, cast<std::int64_t>(iota<std::int32_t>(g, batch)) - 1, batch))},
               1);
    const Tensor labels = cast<std::int32_t>(slice(m, 2, 0, 1) * 9), big = select(greater(x, 0.4), exp(x * 1000), x);
    const Tensor many = reshape(x, {batch, width, 1}) * (sin(iota<float>(g, 600, 1, 2.5)) + 2.0);
    const Tensor losses =
        concat({row(sparse_softmax_cross_entropy(m, reshape(labels, {batch, 3}), per_example)),
                row(sparse_softmax_cross_entropy(m * 100, reshape(abs(labels), {batch, 3}), per_example)),
                row(softmax_cross_entropy(m, softmax(-m), per_example)),
                row(softmax_cross_entropy(many, softmax(many), per_example)),
                row(softmax_cross_entropy(reshape(big, {batch, 3, 4}), softmax(m), per_example)),
                row(sparse_softmax_cross_entropy(many, cast<std::int32_t>(x * 700), per_example))},
               1);
    const Tensor weights = g.variable<float>("weights", {3, 4}, glorot_uniform());
    const Tensor two = g.constant(DType::int32, 2), one = reshape(g.constant(1.5F), {1, 1});
    const Tensor size = reshape(g.count(batch, DType::float32), {1, 1});
    const Tensor constants =
        concat({gather(weights, two), reshape(matmul(one, size), {1}), reshape(concat({one, one, size}, 1), {3}),
                reshape(gather(weights, reshape(two, {1})), {4})},
               0);
    const Tensor most = concat({row(reduce_max(reshape(whole, {batch, 3, 4}), {1})), row(argmax(whole, 1)),
                                row(argmin(reshape(bytes, {batch, 4, 3}), 1)), row(reduce_min(bytes, {1}))},
                               1);
    g.name("y", concat({tops, sums, losses, most, row(broadcast_to(reshape(constants, {1, 12}), {batch, 12}))}, 1));
  }
};

class ExportedNumbers : public exported_models::ExportedModels {};

TEST_F(ExportedNumbers, AreThoseOfTheCpu) {
  add<Cnn>();
  add<Transformer>();
  add<Operations>();
  add<Edges>();
  add<Divisions>();
  add<Indices>();
  compare_with_each_compiler();
}

}  // namespace exported_numbers_test
}  // namespace crochet
