// SPDX-License-Identifier: Apache-2.0
// The CUDA C++ text of whole plans, compiled to code for a GPU by NVRTC, which needs none. Without NVRTC skipped.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

#include <regex>

namespace crochet {
namespace plan_text_test {

template <class Model, class D>
std::string text_of(MatmulPrecision precision = MatmulPrecision::fp32) {
  using T = cpu::Tables<cpu::DeviceTraits{.packs = false, .by_items = false}, Model>;
  return cuda::plan_text(cuda::StoredSource<cpu::Planned<T, D>>::source(), precision);
}
using Train = Demand<Names<Name<"loss">>, Names<Name<"train">>>;
using Loss = Demand<Names<Name<"loss">>, Names<>>;

/// The numbers that the compiler prints for the functions of a plan.
std::vector<int> numbers(const std::string& log, const std::string& pattern) {
  std::vector<int> all;
  const std::regex expression(pattern);
  for (auto at = std::sregex_iterator(log.begin(), log.end(), expression); at != std::sregex_iterator(); ++at) {
    all.push_back(std::stoi((*at)[1]));
  }
  return all;
}

// All 255 registers of a thread may be used, because a multiprocessor runs one block of 256 threads.
template <class Model, class D = Train>
void compiles_without_spills(int most_registers, std::initializer_list<int> architectures = {90},
                             MatmulPrecision precision = MatmulPrecision::fp32) {
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const std::string text = text_of<Model, D>(precision);
  for (const int architecture : architectures) {
    const cuda::Cubin cubin = cuda::compile_text(text, {.architecture = architecture, .resources = true});
    EXPECT_GT(cubin.code.size(), 1000U);
    const std::vector<int> spills = numbers(cubin.log, "([0-9]+) bytes spill (?:stores|loads)");
    EXPECT_FALSE(spills.empty()) << cubin.log;
    for (const int bytes : spills) EXPECT_EQ(bytes, 0) << cubin.log;
    const std::vector<int> registers = numbers(cubin.log, "Used ([0-9]+) registers");
    ASSERT_EQ(registers.size(), 1U) << cubin.log;
    EXPECT_LE(registers[0], most_registers) << "sm_" << architecture;
    ::testing::Test::RecordProperty("registers of sm_" + std::to_string(architecture), registers[0]);
  }
}

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 784}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor logits = dense(relu(dense(x, 128, "hidden")), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), Adam{}));
  }
};
struct Cnn {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<float>("x", {batch, 784}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    Tensor x = reshape(images, {batch, 28, 28, 1});
    x = max_pool(relu(batch_norm(conv2d(x, 16, {3, 3}, "conv1"), "norm", true)), 2);
    x = max_pool(relu(conv2d(x, 32, {3, 3}, "conv2", {.padding = Padding::valid})), 2);
    const Tensor logits = dense(dropout(relu(dense(flatten(x), 64, "hidden")), 0.5), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), Momentum{}));
  }
};
struct Transformer {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor ids = g.placeholder<std::int32_t>("ids", {batch, 64}),
                 next = g.placeholder<std::int32_t>("next", {batch, 64});
    const Tensor table = g.variable<float>("embedding", {65, 64}, uniform(-0.1, 0.1));
    Tensor x = gather(table, ids);
    x = x + multi_head_self_attention(layer_norm(x, "norm1"), 4, "attention", {.causal = true});
    x = x + dense(gelu(dense(layer_norm(x, "norm2"), 256, "up")), 64, "down");
    const Tensor logits = dense(x, 65, "out");
    g.name("train", minimize(g.name("loss", reduce_mean(sparse_softmax_cross_entropy(reshape(logits, {rest, 65}),
                                                                                     reshape(next, {rest})))),
                             AdamW{}));
  }
};
struct InDouble {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 37}), y = g.placeholder<double>("y", {batch, 37});
    Tensor h = x;
    h = tanh(dense(h, 37, "a"));
    h = tanh(dense(h, 37, "b"));
    g.name("train", minimize(g.name("loss", reduce_mean(square(h - y))), RMSProp{}));
  }
};

TEST(PlanText, AnMlpCompiles) { compiles_without_spills<Mlp>(255, {75, 90}); }
TEST(PlanText, AnMlpWithProductsOnTensorCoresCompiles) {
  compiles_without_spills<Mlp, Loss>(255, {80}, MatmulPrecision::tf32);
  compiles_without_spills<Mlp, Loss>(255, {90}, MatmulPrecision::bf16);
}
TEST(PlanText, ACnnCompiles) { compiles_without_spills<Cnn>(255); }
TEST(PlanText, ATransformerCompiles) { compiles_without_spills<Transformer>(255); }
TEST(PlanText, DoublesCompile) { compiles_without_spills<InDouble>(255); }

TEST(PlanText, NamesEveryStepAndItsBarriers) {
  using T = cpu::Tables<cpu::DeviceTraits{.packs = false, .by_items = false}, Mlp>;
  using P = cpu::Planned<T, Train>;
  const std::string text = text_of<Mlp, Train>();
  for (std::size_t s = 0; s < P::plan.step_count; ++s) {
    const std::string call = std::string(P::plan.steps[s].barrier ? ", true" : ", false") + ">(block, launch, run, " +
                             std::to_string(s) + ");";
    EXPECT_NE(text.find(call), std::string::npos) << call << "\n" << text;
  }
}

TEST(PlanText, TheGatherOfRowsCompiles) {
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const cuda::Cubin cubin = cuda::compile_text(cuda::gather_text(), {.architecture = 75, .resources = true});
  EXPECT_EQ(numbers(cubin.log, "([0-9]+) bytes spill (?:stores|loads)"), std::vector<int>({0, 0})) << cubin.log;
}

TEST(PlanText, NamesThePrecisionOfProducts) {
  EXPECT_NE((text_of<Mlp, Train>().find("DeviceBlockOf<MatmulPrecision::fp32> block")), std::string::npos);
  EXPECT_NE((text_of<Mlp, Train>(MatmulPrecision::tf32).find("DeviceBlockOf<MatmulPrecision::tf32> block")),
            std::string::npos);
  EXPECT_NE((text_of<Mlp, Train>(MatmulPrecision::bf16).find("DeviceBlockOf<MatmulPrecision::bf16> block")),
            std::string::npos);
}

TEST(PlanText, ATextThatIsWrongIsAnErrorWithTheCompilersMessage) {
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  try {
    cuda::compile_text("this is no program");
    FAIL() << "it must throw";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string_view(error.what()).find("crochet_plan.cu(1): error"), std::string_view::npos) << error.what();
  }
}

}  // namespace plan_text_test
}  // namespace crochet
