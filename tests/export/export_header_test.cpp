// SPDX-License-Identifier: Apache-2.0
// Exported headers: what they compute, compiled by g++ and clang without a standard library, against the CPU executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/graph/layers/attention.hpp>
#include <crochet/graph/layers/normalization.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/session/raw_session.hpp>

#include "../checkpoint/directory.hpp"
#include "../io/faulty_files.hpp"

namespace crochet {
namespace export_header_test {

constexpr std::int64_t width = 12;

struct Mlp {
  static constexpr std::string_view name = "Mlp";
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width});
    g.name("y", softmax(dense(relu(dense(tanh(dense(x, 9, "a")), 7, "b")), 5, "c")));
  }
};
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

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.45F;
  return x;
}

struct Exported {
  std::string name;
  std::vector<float> expected;
};

class ExportHeaderTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t batch = 3;
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<float> x = numbers(batch * width);
  std::vector<Exported> models;
  std::string driver;

  ExportHeaderTest() { std::filesystem::create_directories(dir.path()); }

  Saver<> saver(std::string_view name) {
    return Saver{dir / name, {.say = [](std::string_view) {}, .files = &quick}};
  }
  /// Saves a model, exports it, and computes what the header has to compute.
  template <class Model>
  void add() {
    auto executor = Cpu{.threads = 1, .seed = 7}.compile<Model>();
    executor.initialize();
    std::size_t n = 0;
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
      const double low = name.ends_with("variance") ? 0.1 : -0.5;
      for (auto& e : elements) {  // no zeros and ones, which would hide a missing bias
        using T = std::remove_reference_t<decltype(e)>;
        e = static_cast<T>(static_cast<double>(n++ * 31 % 101) / 101 + low);
      }
    });
    RawSession session{executor};
    saver(Model::name).save(session, 4);
    const auto [y] = session.run(fetches<"y">, feed<"x">(x));
    models.push_back({std::string(Model::name), {y.data(), y.data() + y.size()}});
    const std::string name(Model::name);
    export_header<Model, "y">(saver(name), dir / (name + ".hpp"),
                              {.name = name, .dimensions = {{.name = "batch", .size = batch}}});
    driver += "#include \"" + name + ".hpp\"\nextern \"C\" unsigned long size_" + name + "() { return " + name +
              "::y_size; }\n" + "extern \"C\" void run_" + name + "(const float* x, float* y) { static " + name +
              " model; model.predict(x, y); }\n";
  }
  void compare_with(const std::string& compiler) {
    Directory::write(dir / "driver.cpp", driver);
    const std::string library = (dir / "driver.so").string();
    const std::string command = compiler +
                                " -std=c++17 -O2 -ffreestanding -nostdlib -fno-exceptions -fno-rtti "
                                "-fno-threadsafe-statics -Wall -Wextra -Wconversion "
                                "-Werror -shared -fPIC -o " +
                                library + " " + (dir / "driver.cpp").string() + " -lm";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe): one thread
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();  // NOLINT(concurrency-mt-unsafe)
    for (const Exported& model : models) {
      const auto size = reinterpret_cast<unsigned long (*)()>(dlsym(handle, ("size_" + model.name).c_str()));
      const auto run = reinterpret_cast<void (*)(const float*, float*)>(dlsym(handle, ("run_" + model.name).c_str()));
      ASSERT_EQ(size(), model.expected.size()) << model.name;
      std::vector<float> y(model.expected.size());
      for (int twice = 0; twice < 2; ++twice) run(x.data(), y.data());  // the second time with a used workspace
      for (std::size_t i = 0; i < y.size(); ++i) {
        const float right = model.expected[i];
        if (right == y[i] || (std::isnan(right) && std::isnan(y[i]))) continue;
        EXPECT_NEAR(y[i], right, 1e-6 * std::max(1.F, std::abs(right))) << compiler << " " << model.name << " " << i;
      }
    }
    dlclose(handle);
  }
};

TEST_F(ExportHeaderTest, ComputesWhatTheCpuComputes) {
  add<Mlp>();
  add<Cnn>();
  add<Transformer>();
  add<Operations>();
  add<Edges>();
  add<Divisions>();
  add<Indices>();
  int compilers = 0;
  for (const std::string compiler : {CROCHET_GNU, CROCHET_CLANG}) {
    if (compiler.ends_with("NOTFOUND")) continue;
    compare_with(compiler);
    ++compilers;
  }
  EXPECT_GT(compilers, 0);
}

/// An operation of a program.
constexpr TypedShape infer_own(const OpInputs& in) { return in[0]; }
inline constexpr Op own{.name = "relu", .kind = OpKind::elementwise, .infer = infer_own};
struct Own {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("1st int", {g.dynamic("batch"), 2});
    g.name("y", g.apply(own, x));
    g.name("same", x);
    g.name("float", reshape(x, {rest}));
  }
};

struct Numbers {
  static constexpr void define(GraphBuilder& g) {
    g.name("view", expand_dims(g.constant(2.F), 0));
    g.name("count", reshape(g.count(g.dynamic("batch"), DType::float32), {1}));
    g.name("huge", g.constant(DType::float32, 1e300));
    g.name("negative", g.constant(-1.5));
  }
};
/// Values of two types in turn, each of which needs only the one before it.
struct Chain {
  static constexpr void define(GraphBuilder& g) {
    const Tensor sums = cumulative_sum(g.placeholder<float>("x", {4, 4}), 0);
    g.name("y", cumulative_sum(cast<float>(cumulative_sum(cast<std::int32_t>(sums), 1)), 0));
  }
};
struct Empty {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {2, 2}), none = g.placeholder<float>("none", {2, 0});
    g.name("joined", concat({x, none}, 1));
    g.name("product", matmul(none, swap_axes(none, 0, 1)));
  }
};

std::string refusal(const ExportedModel& model, const HeaderOptions& options) {
  try {
    static_cast<void>(header_text(model, options));
  } catch (const LogicError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was exported";
  return "";
}

TEST_F(ExportHeaderTest, AnErrorNamesTheNodeAndItsOperation) {
  const ExportedModel model = described<Own, "y">();
  const std::string why = refusal(model, {});
  EXPECT_TRUE(why.starts_with("crochet: \"y\" (relu) cannot be exported as a header")) << why;
}

TEST_F(ExportHeaderTest, RefusesOptionsThatDoNotFit) {
  const ExportedModel model = described<Own, "same">();
  EXPECT_NE(refusal(model, {.name = "2d"}).find("\"2d\" cannot be the name"), std::string::npos);
  EXPECT_NE(refusal(model, {.dimensions = {{.name = "bacth", .size = 2}}})
                .find("no dynamic dimension \"bacth\"; they have \"batch\""),
            std::string::npos);
  EXPECT_NE(refusal(model, {.dimensions = {{.name = "batch", .size = 0}}}).find("at least 1"), std::string::npos);
}

TEST_F(ExportHeaderTest, AStructHasANameOfItsOwn) {
  const ExportedModel model = described<Own, "same">();
  for (const std::string name : {"concept", "co_await", "INT32_MAX", "NULL", "uint8_t", "predict", "workspace_size",
                                 "same_size", "x1st_int_size", "workspace_"}) {
    EXPECT_NE(refusal(model, {.name = name}).find("give another name"), std::string::npos) << name;
  }
  const std::string text = header_text(model, {.name = "same"});
  EXPECT_NE(text.find("void predict(const float* x1st_int, float* same_2) noexcept"), std::string::npos) << text;
}

TEST_F(ExportHeaderTest, ANumberWithAnotherShapeIsANumber) {
  const std::string text = header_text(described<Numbers, "view", "count", "huge", "negative">(),
                                       {.dimensions = {{.name = "batch", .size = 3}}});
  EXPECT_NE(text.find("view[i_] = 0x1p+1f;"), std::string::npos) << text;
  EXPECT_NE(text.find("count[i_] = 0x1.8p+1f;"), std::string::npos) << text;
  EXPECT_NE(text.find("huge[i_] = __builtin_inff();"), std::string::npos) << text;
  EXPECT_NE(text.find("negative[i_] = -0x1.8p+0;"), std::string::npos) << text;
}

/// With a locale of a decimal comma. The test makes it, since few machines have one.
TEST_F(ExportHeaderTest, NumbersDoNotDependOnTheLocale) {
  Directory::write(dir / "comma.source",
                   "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n");
  // Its exit status is 1, because the locale has no other category.
  const std::string make =
      "localedef -c -i " + (dir / "comma.source").string() + " -f UTF-8 " + (dir / "comma").string() + " 2>/dev/null";
  static_cast<void>(std::system(make.c_str()));  // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("LOCPATH", dir.path().c_str(), 1);    // NOLINT(concurrency-mt-unsafe)
  if (std::setlocale(LC_NUMERIC, "comma") == nullptr) GTEST_SKIP() << "no localedef made a locale here";
  const std::string decimal_point = std::localeconv()->decimal_point;
  const std::string text = header_text(described<Numbers, "negative">());
  std::setlocale(LC_NUMERIC, "C");
  ::unsetenv("LOCPATH");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(decimal_point, ",");
  EXPECT_NE(text.find("negative[i_] = -0x1.8p+0;"), std::string::npos) << text;
}

TEST_F(ExportHeaderTest, ANameDoesNotEndAComment) {
  ExportedModel model = described<Own, "same", "float">();
  const std::string name = "a\nb\\";
  model.nodes.push_back({.op = &op::neg, .shape = model.nodes[0].shape, .inputs = {0}, .name = name});
  model.nodes.push_back({.op = &op::variable, .shape = {1}, .name = name, .value = std::vector<std::byte>(4)});
  const std::string text = header_text(model);
  EXPECT_NE(text.find("// neg of a_b_\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  // a_b_\n"), std::string::npos) << text;
}

/// Memory of one element type is never that of another.
TEST_F(ExportHeaderTest, ElementTypesDoNotShareMemory) {
  const std::string text = header_text(described<Chain, "y">());
  std::map<std::string, std::set<std::string>> types;  // of each place
  const std::regex place("reinterpret_cast<([a-z0-9_:]+)\\*>\\(workspace_ \\+ ([0-9]+)\\)");
  for (std::sregex_iterator i(text.begin(), text.end(), place), end; i != end; ++i) types[(*i)[2]].insert((*i)[1]);
  EXPECT_EQ(types.size(), 3U) << text;  // one of float, two of integers that are alive together
  for (const auto& [at, of] : types) EXPECT_EQ(of.size(), 1U) << at << "\n" << text;
}

TEST_F(ExportHeaderTest, RefusesAValueWithoutElements) {
  for (const ExportedModel& model : {described<Empty, "joined">(), described<Empty, "product">()}) {
    const std::string why = refusal(model, {});
    EXPECT_NE(why.find("\"none\" (placeholder) has no elements"), std::string::npos) << why;
  }
}

struct Stored {
  static constexpr void define(GraphBuilder& g) {
    g.name("y", dense<bfloat16>(g.placeholder<float>("x", {2, 3}), 4, "layer"));
  }
};
TEST_F(ExportHeaderTest, RefusesBfloat16) {
  EXPECT_EQ(
      refusal(described<Stored, "y">(), {}),
      "crochet: \"layer/kernel\" (variable) is bfloat16, which an exported header does not have; export the model "
      "with float in its place");
}

TEST_F(ExportHeaderTest, ParametersAreIdentifiers) {
  const std::string text = header_text(described<Own, "same", "float">(), {.name = "Own"});
  EXPECT_NE(text.find("void predict(const float* x1st_int, float* same, float* float_2) noexcept"), std::string::npos)
      << text;
  EXPECT_NE(text.find("float_2_size = 2;"), std::string::npos) << text;
}

}  // namespace export_header_test
}  // namespace crochet
