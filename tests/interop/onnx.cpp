// SPDX-License-Identifier: Apache-2.0
// Exports models as ONNX for onnx_files.py: `onnx FOLDER` writes, for each model, MODEL.onnx, the input MODEL.x.bin
// (float [3, 12]), and what the CPU executor computes, MODEL.OUTPUT.3.bin and, from the first row, MODEL.OUTPUT.1.bin.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_onnx.hpp>
#include <crochet/graph/layers/attention.hpp>
#include <crochet/graph/layers/normalization.hpp>
#include <crochet/model.hpp>
#include <crochet/session/raw_session.hpp>

namespace {

using namespace crochet;

constexpr std::int64_t rows = 3, width = 12;

constexpr Tensor input(GraphBuilder& g) { return g.placeholder<float>("x", {g.dynamic("batch"), width}); }

struct Networks {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g);
    g.name("mlp", softmax(dense(relu(dense(tanh(dense(x, 9, "a")), 7, "b")), 5, "c")));
    const Tensor image = reshape(x, {x.shape()[0], 2, 3, 2});
    const Tensor first = relu(batch_norm(conv2d(image, 4, {3, 3}, "first"), "norm", false));
    const Tensor wide = depthwise_conv2d(first, {2, 2}, "depthwise", {.stride = {1, 2}, .multiplier = 2});
    g.name("cnn", dense(flatten(max_pool(wide, {2, 2}, {1, 1}, Padding::same)), 5, "out"));
    const Tensor tokens = reshape(x, {x.shape()[0], 3, 4});
    const Tensor seen =
        tokens + multi_head_self_attention(layer_norm(tokens, "norm1"), 2, "attention", {.causal = true});
    const Tensor hidden = gelu(dense(rms_norm(seen, "norm2"), 8, "up"));
    g.name("transformer", seen + dense(hidden, 4, "down"));
    g.name("self_attention", self_attention(reshape(x, {x.shape()[0], 2, 6}), 2));
  }
};
/// Each value has the name of the function that computes it.
struct Functions {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), p = abs(x) + 0.25;
    g.name("exp", exp(x)), g.name("expm1", expm1(x)), g.name("log", log(p)), g.name("log1p", log1p(p - 0.5));
    g.name("sqrt", sqrt(p)), g.name("rsqrt", rsqrt(p)), g.name("pow", pow(p, x)), g.name("sin", sin(x));
    g.name("cos", cos(x)), g.name("asin", asin(x)), g.name("acos", acos(x)), g.name("atan", atan(x));
    g.name("asinh", asinh(x)), g.name("acosh", acosh(p + 1)), g.name("atanh", atanh(x)), g.name("erf", erf(x));
    g.name("erfc", erfc(x)), g.name("sigmoid", sigmoid(x)), g.name("softplus", softplus(x)), g.name("tanh", tanh(x));
  }
};
struct Arithmetic {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), p = abs(x) + 0.25, whole = cast<std::int32_t>(x * 9);
    g.name("sub", x - p), g.name("div", x / p), g.name("neg", -x), g.name("square", square(x)), g.name("sign", sign(x));
    g.name("floor", floor(x * 3)), g.name("ceil", ceil(x * 3)), g.name("round", round(x * 3));
    g.name("trunc", trunc(x * 3)), g.name("minimum", minimum(x, p)), g.name("maximum", maximum(x, -p));
    g.name("relu", relu(x)), g.name("leaky_relu", leaky_relu(x)), g.name("cast", whole);
    g.name("integers", whole * 3 - abs(whole)), g.name("equal", equal(whole, 1)),
        g.name("not_equal", not_equal(whole, 1));
    g.name("less", less(x, 0.1)), g.name("less_equal", less_equal(x, 0.1)), g.name("greater", greater(x, 0.1));
    g.name("greater_equal", greater_equal(x, 0.1));
    g.name("logical_and", logical_and(less(x, 0.1), greater(x, -0.1)));
    g.name("logical_or", logical_or(less(x, -0.1), greater(x, 0.1)));
    g.name("logical_xor", logical_xor(less(x, 0.1), greater(x, -0.1)));
    g.name("logical_not", logical_not(less(x, 0.1))), g.name("float64", cast<double>(x) * 3);
  }
};
struct Rows {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), m = reshape(x, {x.shape()[0], 3, 4});
    const Tensor label = cast<std::int32_t>(abs(reduce_sum(x, {1}) * 4));
    g.name("softmax", softmax(m, 1)), g.name("log_softmax", log_softmax(x)), g.name("logsumexp", logsumexp(m, 1));
    g.name("reduce_sum", reduce_sum(m, {1})), g.name("reduce_mean", reduce_mean(m, {2}));
    g.name("reduce_max", reduce_max(m, {1})), g.name("reduce_min", reduce_min(m, {2}, keep_dims));
    g.name("reduce_prod", reduce_prod(m, {1})), g.name("reduce_any", reduce_any(greater(m, 0.4), {1}));
    g.name("reduce_all", reduce_all(less(m, 0.4), {2})), g.name("argmax", argmax(m, 2)), g.name("argmin", argmin(m, 1));
    g.name("cumulative_sum", cumulative_sum(m, 1, {.exclusive = true, .reverse = true}));
    const TopK best = top_k(x, 3);
    g.name("top_k", best.indices), g.name("take_along_rows", best.values);
    g.name("sparse_cross_entropy", sparse_softmax_cross_entropy(x, label, per_example));
    g.name("cross_entropy", softmax_cross_entropy(x, softmax(-x), per_example));
    g.name("sigmoid_cross_entropy", sigmoid_cross_entropy(x, sigmoid(-x), per_example));
  }
};
struct Arrays {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), m = reshape(x, {x.shape()[0], 3, 4}), image = reshape(x, {x.shape()[0], 3, 2, 2});
    const Tensor weights = g.variable<float>("weights", {4, 4}, glorot_uniform());
    g.name("matmul", matmul(m, weights, {.b = true})), g.name("batched_matmul", matmul(m, m, {.b = true}));
    g.name("transpose", transpose(m, {0, 2, 1})), g.name("slice", slice(x, 1, 1, 10, 3));
    g.name("reverse", reverse(x, 1)), g.name("pad", pad(m, {{0, 0}, {1, 0}, {0, 2}}, 0.5));
    g.name("concat", concat({m, m * 2}, 1)), g.name("broadcast_to", broadcast_to(slice(m, 1, 0, 1), m.shape()));
    g.name("gather", gather(weights, cast<std::int32_t>(x * 9)));
    g.name("take_along", take_along(x, cast<std::int32_t>(x * 13), 1));
    g.name("iota", x + expand_dims(iota<float>(g, x.shape()[0], 1, 2), -1));
    g.name("mean_pool", average_pool(image, {2, 2}, {2, 1}, Padding::same));
    g.name("max_pool", max_pool(image, {2, 2}, {2, 1}, Padding::same)),
        g.name("group_norm", group_norm(image, 2, "group"));
    g.name("column_mean", reduce_mean(x, {0}));
  }
};

/// Negative operands, zeros with both signs, infinity, the least integers.
struct Divisions {
  static constexpr Tensor infinite(Tensor x) { return select(greater(abs(x), 0.3), x / (x * 0.0), x); }
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), back = reverse(x, 1), b = cast<std::int32_t>(back * 7), wide_b = cast<std::int64_t>(b);
    const Tensor tens = cast<std::int32_t>(x * 90), least = g.constant(DType::int32, -0x1p31);
    const Tensor a = select(less(tens, -15), least, tens), wide = cast<std::int64_t>(tens);
    const Tensor wide_a = select(less(tens, -15), g.constant(DType::int64, -0x1p63), wide);
    g.name("div_int32", a / b), g.name("floor_divide_int32", floor_divide(a, b)), g.name("mod_int32", mod(a, b));
    g.name("div_int64", wide_a / wide_b), g.name("floor_divide_int64", floor_divide(wide_a, wide_b));
    g.name("mod_int64", mod(wide_a, wide_b)), g.name("relu_int64", relu(wide_a));
    g.name("div_constant", a / -1), g.name("mod_constant", mod(a, -4));
    g.name("floor_divide_constant", floor_divide(a, -4));
    const Tensor quarters = trunc(back * 5) / 4, from = infinite(x), by = infinite(quarters), exact = quarters * 3;
    g.name("floor_divide", floor_divide(x, quarters)), g.name("mod", mod(x, quarters));
    g.name("floor_divide_infinite", floor_divide(from, by)), g.name("mod_infinite", mod(from, by));
    g.name("mod_exact", mod(exact, -quarters)), g.name("floor_divide_exact", floor_divide(exact, -quarters));
    g.name("floor_divide_float64", floor_divide(cast<double>(x), cast<double>(quarters)));
    g.name("mod_float64", mod(cast<double>(x), cast<double>(quarters))), g.name("atan2", atan2(x, back));
    const Tensor zeros = x * 0.0, edges = concat({zeros, x / zeros, zeros / zeros, x, quarters}, 1);
    g.name("atan2_edges", atan2(reshape(edges, {x.shape()[0], 1, 60}), reshape(edges, {x.shape()[0], 60, 1})));
  }
};
struct Bytes {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), a = cast<std::uint8_t>(abs(x) * 450), b = cast<std::uint8_t>(abs(reverse(x, 1)) * 9);
    const Tensor m = reshape(a, {x.shape()[0], 3, 4});
    g.name("add_bytes", a + a), g.name("sub_bytes", b - a), g.name("mul_bytes", a * b), g.name("neg_bytes", -a);
    g.name("div_bytes", a / b), g.name("floor_divide_bytes", floor_divide(a, b)), g.name("mod_bytes", mod(a, b));
    g.name("square_bytes", square(a)), g.name("abs_bytes", abs(a)), g.name("sign_bytes", sign(b));
    g.name("relu_bytes", relu(a)), g.name("maximum_bytes", maximum(a, b * 40)), g.name("minimum_bytes", minimum(a, b));
    g.name("floor_bytes", floor(a)), g.name("select_bytes", select(less(a, b * 30), a, b));
    g.name("reduce_sum_bytes", reduce_sum(m, {1})), g.name("reduce_prod_bytes", reduce_prod(m, {2}));
    g.name("reduce_max_bytes", reduce_max(m, {1})), g.name("reduce_min_bytes", reduce_min(m, {2}, keep_dims));
    g.name("argmax_bytes", argmax(m, 2)), g.name("argmin_bytes", argmin(m, 1));
    g.name("cumulative_sum_bytes", cumulative_sum(a, 1)), g.name("top_k_bytes", top_k(a, 5).indices);
    g.name("iota_bytes", a + iota<std::uint8_t>(g, width, 200, 7)), g.name("pad_bytes", pad(a, {{0, 0}, {1, 2}}, 9));
  }
};
/// Positions and sizes that depend on a dynamic dimension; indices outside; sums by index.
struct Dynamic {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), m = reshape(x, {x.shape()[0], 3, 4}), flat = reshape(x, {rest});
    const Extent batch = x.shape()[0];
    const Tensor whole = cast<std::int32_t>(x * 9);
    g.name("last_two", slice(x, 0, -2)), g.name("first_four", slice(whole, 0, 0, 4));
    g.name("first_four_bools", slice(less(x, 0), 0, 0, 4)),
        g.name("first_four_bytes", slice(cast<std::uint8_t>(abs(whole)), 0, 0, 4));
    g.name("every_third", slice(flat, 0, -1, to_end, -3)), g.name("reverse_batch", reverse(m, 0));
    g.name("second_third", split<3>(reshape(m, {batch * 3, 4}), 0)[1]);
    const auto padded = [&](Tensor t, const Shape& to, std::size_t axis, detail::Place begin, std::int64_t step) {
      Attributes how = detail::along(axis, begin, step);
      how.reals[0] = 0.5;
      return g.shaped(op::pad, {t}, to, how);
    };
    g.name("pad_batch", padded(x, {batch * 2, width}, 0, {1, 0}, 1));
    g.name("pad_between", padded(x, {batch * 3, width}, 0, {1, 0}, 3));
    g.name("pad_behind", padded(x, {batch * 2, width}, 0, {-1, batch}, 1));
    g.name("pad_backwards", padded(x, {batch, width}, 0, {-1, batch}, -1));
    g.name("pad_columns", padded(x, {batch, 31}, 1, {-1, 0}, 3)),
        g.name("pad_less", padded(x, {batch, 5}, 1, {-3, 0}, 1));
    const Tensor ids = cast<std::int32_t>(slice(flat, 0, 0, 4) * 6);  // some are negative
    g.name("segment_sum", segment_sum(m, ids, 3, 2)),
        g.name("segment_sum_int32", segment_sum(reshape(whole, {batch, 4, 3}), ids, 2, 1));
    g.name("segment_sum_bytes",
           segment_sum(cast<std::uint8_t>(abs(m) * 450), cast<std::uint8_t>(abs(slice(ids, 0, 0, 3))), 2, 1));
    g.name("segment_sum_batch", segment_sum(x, iota<std::int64_t>(g, batch, -1), batch * 2));
    g.name("segment_sum_matrix", segment_sum(m, reshape(slice(whole, 0, 0, 1), {3, 4}), 5, 1));
  }
};

/// Weights and values that are stored as bfloat16.
struct Stored {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = input(g), hidden = relu(dense<bfloat16>(x, 9, "a"));
    g.name("stored_weights", dense<bfloat16>(hidden, 5, "b"));
    g.name("stored_rows", cast<float>(embedding<bfloat16>(cast<std::int32_t>(x * 9), 7, 4, "words", uniform(-1, 1))));
    g.name("stored_values", cast<float>(cast<bfloat16>(x)) * 3);
  }
};

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<float> numbers() {
  std::vector<float> x(rows * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.45F;
  return x;
}

template <class Model, FixedString... Outputs>
void export_model(const std::filesystem::path& folder, const std::string& name) {
  auto executor = Cpu{.threads = 1, .seed = 7}.compile<Model>();
  executor.initialize();
  std::size_t n = 0;
  executor.for_each_variable([&](std::string_view variable, auto elements, std::span<const std::int64_t>) {
    const float least = variable.ends_with("variance") ? 0.1F : -0.5F;  // no zeros, which would hide a missing bias
    for (auto& e : elements) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, float>) {
        e = static_cast<float>(n++ * 31 % 101) / 101 + least;
      }
    }
  });
  RawSession session{executor};
  const Saver<> saver{folder / name, {.say = [](std::string_view) {}}};
  Saver<>(saver).save(session, 4);
  export_onnx<Model, Outputs...>(saver, folder / (name + ".onnx"));
  const std::vector<float> x = numbers();
  write(folder / (name + ".x.bin"), std::as_bytes(std::span(x)));
  const auto put = [&]<FixedString Output>(Name<Output>, std::size_t batch) {
    const auto [y] = session.template run(fetches<Output>, feed<"x">(std::span(x).first(batch * width)));
    write(folder / (name + "." + std::string(Name<Output>::view()) + "." + std::to_string(batch) + ".bin"),
          std::as_bytes(std::span(y.data(), y.size())));
  };
  for (const std::size_t batch : {1U, 3U}) (put(Name<Outputs>{}, batch), ...);
}

void export_all(const std::filesystem::path& folder) {
  export_model<Networks, "mlp", "cnn", "transformer", "self_attention">(folder, "networks");
  export_model<Functions, "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "pow", "sin", "cos", "asin", "acos", "atan",
               "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid", "softplus", "tanh">(folder, "functions");
  export_model<Arithmetic, "sub", "div", "neg", "square", "sign", "floor", "ceil", "round", "trunc", "minimum",
               "maximum", "relu", "leaky_relu", "cast", "integers", "equal", "not_equal", "less", "less_equal",
               "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "float64">(
      folder, "arithmetic");
  export_model<Rows, "softmax", "log_softmax", "logsumexp", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
               "reduce_prod", "reduce_any", "reduce_all", "argmax", "argmin", "cumulative_sum", "top_k",
               "take_along_rows", "sparse_cross_entropy", "cross_entropy", "sigmoid_cross_entropy">(folder, "rows");
  export_model<Arrays, "matmul", "batched_matmul", "transpose", "slice", "reverse", "pad", "concat", "broadcast_to",
               "gather", "take_along", "iota", "mean_pool", "max_pool", "group_norm", "column_mean">(folder, "arrays");
  export_model<Divisions, "div_int32", "floor_divide_int32", "mod_int32", "div_int64", "floor_divide_int64",
               "mod_int64", "relu_int64", "div_constant", "mod_constant", "floor_divide_constant", "floor_divide",
               "mod", "floor_divide_infinite", "mod_infinite", "mod_exact", "floor_divide_exact",
               "floor_divide_float64", "mod_float64", "atan2", "atan2_edges">(folder, "divisions");
  export_model<Bytes, "add_bytes", "sub_bytes", "mul_bytes", "neg_bytes", "div_bytes", "floor_divide_bytes",
               "mod_bytes", "square_bytes", "abs_bytes", "sign_bytes", "relu_bytes", "maximum_bytes", "minimum_bytes",
               "floor_bytes", "select_bytes", "reduce_sum_bytes", "reduce_prod_bytes", "reduce_max_bytes",
               "reduce_min_bytes", "argmax_bytes", "argmin_bytes", "cumulative_sum_bytes", "top_k_bytes", "iota_bytes",
               "pad_bytes">(folder, "bytes");
  export_model<Stored, "stored_weights", "stored_rows", "stored_values">(folder, "stored");
  export_model<Dynamic, "last_two", "first_four", "first_four_bools", "first_four_bytes", "every_third",
               "reverse_batch", "second_third", "pad_batch", "pad_between", "pad_behind", "pad_backwards",
               "pad_columns", "pad_less", "segment_sum", "segment_sum_int32", "segment_sum_bytes", "segment_sum_batch",
               "segment_sum_matrix">(folder, "dynamic");
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count != 2) throw LogicError("usage: onnx FOLDER");
    export_all(words[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
