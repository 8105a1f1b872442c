// SPDX-License-Identifier: Apache-2.0
// Kernels of plans by shape: each is a model of one or two steps, whose operands are variables, so that nothing is
// copied. Reported with its arithmetic or its bytes; table.py divides by the peaks of the same run.
#pragma once
#include <crochet/crochet.hpp>

#include <cstdint>
#include <string>

#include "device.hpp"
#include "measure.hpp"
#include "program.hpp"

namespace bench {

void measure_products(const Options& options);
void measure_convolutions(const Options& options);
void measure_elementwise(const Options& options);

/// What a run of a kernel does. Zero: not counted.
struct KernelWork {
  double operations = 0;  ///< floating-point
  double bytes = 0;       ///< the least that go through memory: each operand read once, each result written once
};

/// Measures runs of demand D of Model. kind: the group of the table, which has the target.
template <class Model, class D>
void measure_kernel(const std::string& name, const std::string& kind, const KernelWork& work, const Options& options,
                    const Launching& launching = {}) {
  try_case("kernels", name, options, [&] {
    auto executor = executor_of<Model>(launching);
    executor.initialize();
    typename decltype(executor)::Workspace workspace;
    const Measured m = measure(
        [&](long n) {
          for (; n > 0; --n) executor.template run<D>(workspace);
          finish(executor);
        },
        options);
    report({{"part", "kernels"},
            {"case", name},
            {"kind", kind},
            {"us", m.median},
            {"least", m.least},
            {"n", m.n},
            {"tflops", work.operations / m.median / 1e6},
            {"gb_per_s", work.bytes / m.median / 1e3}});
  });
}

/// The run that computes the node of this name, or these.
template <crochet::FixedString... Name>
using Computes = crochet::Demand<crochet::Names<crochet::Name<Name>...>, crochet::Names<>>;

/// A variable of the model with values of both signs.
constexpr crochet::Tensor operand(crochet::GraphBuilder& g, std::string_view name, const crochet::Shape& shape,
                                  bool trained = false) {
  return g.variable<float>(name, shape, crochet::uniform(-1, 1), trained);
}

}  // namespace bench
