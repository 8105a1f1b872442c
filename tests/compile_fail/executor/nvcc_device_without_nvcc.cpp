// SPDX-License-Identifier: Apache-2.0
// expect-error: crochet: NvccCuda is for files that nvcc compiles \(\.cu\)\. Use Cuda in other files
// The device whose kernels nvcc compiles, in a file of another compiler.
#include <crochet/executor/cuda/nvcc.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", g.placeholder<float>("x", {8}) + 1); }
};

void add_one(const float (&x)[8]) {
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{crochet::Cuda{}.compile<Model>(), crochet::HookChain{}};
#else
  crochet::MonitoredSession session{crochet::NvccCuda{}.compile<Model>(), crochet::HookChain{}};
#endif
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
}
