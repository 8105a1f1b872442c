// SPDX-License-Identifier: Apache-2.0
// The CUDA C++ text of a plan, compiled to code for a GPU by NVRTC, which needs none. Without NVRTC skipped.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

#include "compiled_plan.hpp"

namespace crochet {
namespace plan_text_test {

using compiled_plan::compiles_without_spills;
using compiled_plan::Mlp;
using compiled_plan::numbers;
using compiled_plan::text_of;
using compiled_plan::Train;

TEST(PlanText, AnMlpCompiles) { compiles_without_spills<Mlp>(255, {90}); }
struct ModelOfARank {
  static constexpr void define(GraphBuilder& g) {
    g.divide_batch(false, true);
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 20});
    const Tensor w = g.variable<float>("w", {20}, ones());
    const Tensor loss = reduce_mean(dropout(x * w, 0.2));
    g.name("loss", mean_over_ranks(loss));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};
// Its exchanges are steps without code, of each kind.
TEST(PlanText, AModelOnOneOfSeveralRanksCompiles) {
  const std::string text = text_of<ModelOfARank, Train>();
  for (const char* part : {"op::mean_over_ranks", "op::begin_over_ranks", "op::end_over_ranks"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  compiles_without_spills<ModelOfARank>(255);
}

struct StoredAsBfloat16 {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 20});
    const Tensor table = g.variable<bfloat16>("table", {30, 20}, ones(), false);
    const Tensor rows = gather(table, g.placeholder<std::int32_t>("ids", {g.dynamic("batch")}));
    const Tensor hidden = cast<bfloat16>(relu(matmul(x, table, {.b = true})));
    const Tensor w = g.variable<float>("w", {30, 20}, ones());
    g.name("loss",
           reduce_mean(square(matmul(hidden, cast<bfloat16>(w)) + cast<float>(pad(rows, {{0, 0}, {0, 0}}, 0)))));
    g.name("train", minimize(g["loss"], SGD{.learning_rate = 0.1}));
  }
};
TEST(PlanText, AModelWithValuesStoredAsBfloat16Compiles) { compiles_without_spills<StoredAsBfloat16>(255, {90}); }

TEST(PlanText, NamesEveryStepAndItsBarriers) {
  using T = cuda::DeviceTables<Mlp>;
  using P = cpu::Planned<T, Train>;
  const std::string text = text_of<Mlp, Train>();
  std::size_t at = text.find("} steps[] = {\n");
  ASSERT_NE(at, std::string::npos) << text;
  for (std::size_t s = 0; s < P::plan.step_count; ++s) {
    const std::string end = P::plan.steps[s].barrier ? ", true},\n" : ", false},\n";
    at = text.find("  {", at);
    ASSERT_NE(at, std::string::npos) << text;
    const std::size_t comma = text.find(',', at);
    EXPECT_EQ(text.substr(comma, end.size()), end) << s << text;
    const std::string code = "Code" + text.substr(at + 3, comma - at - 3);
    EXPECT_NE(text.find("using " + code + " = "), std::string::npos) << code << "\n" << text;
    EXPECT_NE(text.find("run_code<" + code + ">(block, launch, run, s)"), std::string::npos) << code << "\n" << text;
    at = comma;
  }
  EXPECT_NE(text.find("s < count"), std::string::npos);
}

TEST(PlanText, TheGatherOfRowsCompiles) {
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const cuda::Cubin cubin = cuda::compile_text(cuda::gather_text(), {.architecture = 75, .resources = true});
  EXPECT_EQ(numbers(cubin.log, "([0-9]+) bytes spill (?:stores|loads)"), std::vector<int>({0, 0})) << cubin.log;
}

TEST(PlanText, NamesThePrecisionOfProducts) {
  EXPECT_NE((text_of<Mlp, Train>().find("DeviceBlockOf<MatmulPrecision::fp32, 128> block")), std::string::npos);
  EXPECT_NE((text_of<Mlp, Train>(MatmulPrecision::tf32).find("DeviceBlockOf<MatmulPrecision::tf32, 128> block")),
            std::string::npos);
  EXPECT_NE((text_of<Mlp, Train>(MatmulPrecision::bf16).find("DeviceBlockOf<MatmulPrecision::bf16, 128> block")),
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
