// SPDX-License-Identifier: Apache-2.0
// Compiles the CUDA C++ text of whole plans by NVRTC, and reads what ptxas prints about the code.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <regex>
#include <string>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

namespace crochet::compiled_plan {

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 784}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor logits = dense(relu(dense(x, 128, "hidden")), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), Adam{}));
  }
};

template <class Model, class D>
std::string text_of(MatmulPrecision precision = MatmulPrecision::fp32) {
  using T = cuda::DeviceTables<Model>;
  return cuda::plan_text(cuda::StoredSource<cpu::Planned<T, D>>::source(), precision);
}
using Train = Demand<Names<Name<"loss">>, Names<Name<"train">>>;
using Loss = Demand<Names<Name<"loss">>, Names<>>;

/// The numbers that the compiler prints for the functions of a plan.
inline std::vector<int> numbers(const std::string& log, const std::string& pattern) {
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

}  // namespace crochet::compiled_plan
