// SPDX-License-Identifier: Apache-2.0
// The machine code of the loops of large products, as cuobjdump prints it. Without NVRTC or cuobjdump skipped.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace crochet {
namespace product_code_test {

struct Product {
  static constexpr void define(GraphBuilder& g) {
    const Extent m = g.dynamic("m"), n = g.dynamic("n");
    g.name("y", matmul(g.placeholder<float>("a", {m, 1024}), g.placeholder<float>("b", {1024, n})));
  }
};

struct Instruction {
  long address = 0, target = -1;  ///< target: of a branch
  std::string text;
};
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  char part[4096];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  pclose(pipe);
  return text;
}
/// Lines as "/*0a40*/ @P0 BRA 0x980 ;": the address, a predicate or none, the instruction.
std::vector<Instruction> instructions_of(const std::string& text) {
  std::vector<Instruction> all;
  for (std::size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at + 1)) {
    std::size_t first = text.find("*/", at) + 2;
    const std::size_t end = text.find(';', first);
    if (text[at + 2] == ' ' || end == std::string::npos || text.find('\n', at) < end) continue;  // an encoding
    first = text.find_first_not_of(' ', first);
    if (text[first] == '@') first = text.find_first_not_of(' ', text.find(' ', first));
    Instruction i{std::stol(text.substr(at + 2), nullptr, 16), -1, text.substr(first, end - first)};
    const std::size_t target = i.text.find("0x");
    if (i.text.starts_with("BRA") && target != std::string::npos)
      i.target = std::stol(i.text.substr(target), nullptr, 16);
    all.push_back(i);
  }
  return all;
}

/// The instructions of a loop.
struct Loop {
  std::vector<std::string> body;
  int count(const std::string& name) const {
    return static_cast<int>(
        std::count_if(body.begin(), body.end(), [&](const auto& i) { return i.starts_with(name); }));
  }
};
/// Loops by the backward branches at their ends, the short ones first.
std::vector<Loop> loops_of(MatmulPrecision precision) {
  using T = cuda::DeviceTables<Product>;
  using P = cpu::Planned<T, Demand<Names<Name<"y">>, Names<>>>;
  const std::string file = ::testing::TempDir() + "crochet-product-" + std::to_string(getpid()) + ".cubin";
  std::ofstream(file, std::ios::binary)
      << cuda::compile_text(cuda::plan_text(cuda::StoredSource<P>::source(), precision), {.architecture = 90}).code;
  const auto all = instructions_of(output_of(CROCHET_CUOBJDUMP " -sass " + file));
  std::filesystem::remove(file);
  std::vector<Loop> loops;
  for (const Instruction& end : all) {
    if (end.target < 0 || end.target >= end.address) continue;
    loops.emplace_back();
    for (const Instruction& i : all) {
      if (i.address >= end.target && i.address <= end.address) loops.back().body.push_back(i.text);
    }
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.body.size() < b.body.size(); });
  return loops;
}
/// The shortest loop with `n` instructions of a name.
Loop loop_with(const std::vector<Loop>& loops, int n, const std::string& name) {
  for (const Loop& loop : loops) {
    if (loop.count(name) >= n) return loop;
  }
  ADD_FAILURE() << "there is no loop with " << n << " " << name;
  return {};
}
bool skipped() { return !cuda::has_nvrtc() || std::string_view(CROCHET_CUOBJDUMP).empty(); }

/// Four steps of the depth: 64 products each from four loads of four numbers. The stage around copies asynchronously:
/// elements of the left operand, vectors of the right one.
TEST(ProductCode, OfFloatsIsMostlyArithmetic) {
  if (skipped()) GTEST_SKIP() << "there is no NVRTC or no cuobjdump here";
  const auto loops = loops_of(MatmulPrecision::fp32);
  const Loop loop = loop_with(loops, 256, "FFMA");
  EXPECT_EQ(loop.count("FFMA"), 256);
  EXPECT_EQ(loop.count("LDS"), 16);
  EXPECT_EQ(loop.count("LDS.128"), 16);
  EXPECT_LE(loop.body.size(), 290U);
  for (const Loop& stage : loops) {
    if (stage.count("FFMA") != 256 || stage.body.size() == loop.body.size()) continue;
    EXPECT_EQ(stage.count("LDGSTS.E "), 16);
    EXPECT_EQ(stage.count("LDGSTS.E.BYPASS.128 "), 4);
    EXPECT_LE(stage.body.size(), 530U);
    break;
  }
}

/// A stage: 32 products of 16 x 8 results from 12 loads of four words.
TEST(ProductCode, OnTensorCoresHasTheirInstructions) {
  if (skipped()) GTEST_SKIP() << "there is no NVRTC or no cuobjdump here";
  for (const auto& [precision, name] : {std::pair(MatmulPrecision::tf32, "HMMA.1688.F32.TF32"),
                                        std::pair(MatmulPrecision::bf16, "HMMA.16816.F32.BF16")}) {
    const Loop stage = loop_with(loops_of(precision), 32, name);
    EXPECT_EQ(stage.count("HMMA"), 32);
    EXPECT_EQ(stage.count("LDS.128"), 12);
    EXPECT_EQ(stage.count("STL") + stage.count("LDL"), 0);
    EXPECT_LE(stage.body.size(), 360U) << name;
  }
}

}  // namespace product_code_test
}  // namespace crochet
