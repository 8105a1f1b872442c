// SPDX-License-Identifier: Apache-2.0
// Factors and summands by channel, of a batch normalisation with given statistics or written by hand: they are computed
// once, before all other steps, and applied by the kernel that computes their other operand.
#include <gtest/gtest.h>
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

#include "../plan_machine.hpp"

namespace crochet {
namespace given_norm_test {

using Ids = ConstexprVector<int>;

/// The steps of a plan that are elementwise loops over more than one row, and those that are normalisations.
struct Counted {
  int steps = 0, loops = 0, norms = 0;

  Counted(const GraphBuilder& g, const Ids& fetched) {
    const Stages stages(g.graph(), fetched, Ids{});
    for (const Step& step : stages.plan.steps) {
      ++steps;
      loops += step.root == nullptr && !step.rows.is_one() ? 1 : 0;
      norms += step.root == &op::batch_norm ? 1 : 0;
    }
  }
};

struct Images {
  GraphBuilder g;
  Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 8, 6, 3});
};

TEST(GivenNorm, IsTheEpilogueOfItsConvolution) {
  Images l;
  const Tensor y = relu(batch_norm(conv2d(l.x, 5, {3, 3}, "conv"), "norm", false));
  const Counted plan(l.g, {y.id});
  EXPECT_EQ(plan.steps, 2);  // factors and summands; the convolution
  EXPECT_EQ(plan.loops, 0);
  EXPECT_EQ(plan.norms, 0);
}
TEST(GivenNorm, IsTheEpilogueOfItsProduct) {
  Images l;
  const Tensor y = relu(batch_norm(dense(flatten(l.x), 5, "dense"), "norm", false));
  const Counted plan(l.g, {y.id});
  EXPECT_EQ(plan.steps, 2);
  EXPECT_EQ(plan.loops, 0);
}
TEST(GivenNorm, OfAPlaceholderIsOneLoop) {
  Images l;
  const Tensor y = batch_norm(l.x, "norm", false);
  const Counted plan(l.g, {y.id});
  EXPECT_EQ(plan.steps, 2);
  EXPECT_EQ(plan.loops, 1);
}
TEST(GivenNorm, WithStatisticsOfTheBatchStaysAKernel) {
  Images l;
  const Tensor y = batch_norm(conv2d(l.x, 5, {3, 3}, "conv"), "norm", true);
  EXPECT_EQ(Counted(l.g, {y.id}).norms, 1);
}
TEST(GivenNorm, KeepsItsNameForProbes) {
  Images l;
  const Tensor y = batch_norm(conv2d(l.x, 5, {3, 3}, "conv"), "norm", false);
  const Subgraph s = simplify(l.g.graph(), Ids{y.id}, Ids{});
  EXPECT_EQ(s.nodes[static_cast<std::size_t>(s.fetched[0])].origin, y.id);
}

/// The factors are read by the gradients too, and depend on variables that the step assigns.
TEST(GivenNorm, IsAnEpilogueInTrainingToo) {
  Images l;
  const Tensor h = relu(batch_norm(conv2d(l.x, 5, {3, 3}, "conv"), "norm", false));
  const Tensor train = minimize(reduce_sum(square(dense(flatten(h), 4, "out"))), SGD{0.1});
  const Stages stages(l.g.graph(), Ids{}, Ids{train.id});
  const auto steps = [&](const Op& root, const Op& behind) {
    int n = 0;
    for (const Step& s : stages.plan.steps) {
      const Instruction* const first = stages.plan.instructions.data() + s.first_instruction;
      for (const Instruction* i = first; i != first + s.instructions; ++i) n += s.root == &root && i->op == &behind;
    }
    return n;
  };
  EXPECT_EQ(steps(op::conv2d, op::relu), 1);
}

/// A scale and an offset that are computed from variables, at several places of the model's code.
TEST(ValuesByChannel, WrittenByHandAreComputedAhead) {
  for (const bool first : {false, true}) {
    Images l;
    const auto channels = [&](std::string_view name) { return l.g.variable<float>(name, {5}, ones()); };
    const Tensor gamma = channels("gamma"), beta = channels("beta"), variance = channels("variance");
    const auto scale = [&] { return gamma * rsqrt(variance + 1e-3); };
    const Tensor before = scale(), convolved = conv2d(l.x, 5, {3, 3}, "conv");
    const Tensor s = first ? before : scale();
    const Counted plan(l.g, {relu(convolved * s + (beta - s * 0.5)).id});
    EXPECT_EQ(plan.steps, 2);
    EXPECT_EQ(plan.loops, 0);
  }
}
TEST(ValuesByChannel, AreTheOldOnesOfAVariableThatIsAssigned) {
  Images l;
  const Tensor w = l.g.variable<float>("w", {5}, ones());
  const Tensor y = relu(conv2d(l.x, 5, {3, 3}, "conv") * (w * 2));
  const Tensor set = l.g.assign(w, w + 1);
  const Stages stages(l.g.graph(), Ids{y.id}, Ids{set.id});
  PlanMachine machine(stages, {2, 1, 1, 1});
  const auto fill = [&](AddressSpace space, const Tensor& t, std::size_t count, double value) {
    machine.source(space, t.id) = std::vector<double>(count, value);
  };
  fill(AddressSpace::placeholder, l.x, 2 * 8 * 6 * 3, 1);
  fill(AddressSpace::variable, l.g["conv/kernel"], 3 * 3 * 3 * 5, 1);
  fill(AddressSpace::variable, l.g["conv/bias"], 5, 0);
  fill(AddressSpace::variable, w, 5, 3);
  machine.run();
  EXPECT_EQ(machine.fetched(0)[5 * 9], 27 * 6);  // not at the border: 27 products, times 2 * 3
  EXPECT_EQ(machine.source(AddressSpace::variable, w.id)[0], 4);
}

TEST(ValuesByChannel, OfAnAssignedVariableTakeTheMemoryOfTheLastOnly) {
  Images l;
  const Tensor w = l.g.variable<float>("w", {5}, ones());
  const Tensor y = conv2d(l.x, 5, {3, 3}, "conv") * (exp(w) * 2);
  const Tensor set = l.g.assign(w, w + 1);
  const Stages stages(l.g.graph(), Ids{y.id}, Ids{set.id});
  EXPECT_EQ(stages.plan.slots.size(), 2U);  // y and its factor, not exp(w)
}

/// Every node is read twice by the next one. Without a bound the pass would look at 2^60 paths.
TEST(ValuesByChannel, OfAChainThatDoublesAreFoundOnce) {
  for (const bool assigned : {false, true}) {
    Images l;
    const Tensor w = l.g.variable<float>("w", {5}, ones());
    Tensor factor = w;
    for (int i = 0; i < 60; ++i) factor = factor * factor;
    const Tensor y = conv2d(l.x, 5, {3, 3}, "conv") * factor;
    Ids targets;
    if (assigned) targets.push_back(l.g.assign(w, w + 1).id);
    EXPECT_EQ(Stages(l.g.graph(), Ids{y.id}, targets).plan.steps.size(), assigned ? 3U : 2U);
  }
}

/// Networks of convolutions in inference: no step but the kernels, and one for each width of the factors.
TEST(GivenNorm, OfASeparableNetworkLeavesNoLoopOverPixels) {
  Images l;
  Tensor x = l.x;
  const auto norm = [](const Tensor& t, std::string_view name) { return relu(batch_norm(t, name, false)); };
  x = norm(conv2d(x, 8, {3, 3}, "stem"), "stem_norm");
  x = norm(depthwise_conv2d(x, {3, 3}, "depthwise1"), "norm1");
  x = norm(conv2d(x, 16, {1, 1}, "point1"), "norm2");
  x = norm(depthwise_conv2d(x, {3, 3}, "depthwise2"), "norm3");
  x = norm(conv2d(x, 16, {1, 1}, "point2"), "norm4");
  const Counted plan(l.g, {dense(reduce_mean(x, {1, 2}), 10, "out").id});
  EXPECT_EQ(plan.loops, 0);
  EXPECT_EQ(plan.norms, 0);
}
TEST(GivenNorm, OfAResidualNetworkLeavesNoLoopOverPixels) {
  Images l;
  Tensor x = conv2d(l.x, 8, {3, 3}, "stem");
  for (const auto& [a, b, norm_a, norm_b] :
       {std::array<std::string_view, 4>{"a1", "b1", "norm_a1", "norm_b1"}, {"a2", "b2", "norm_a2", "norm_b2"}}) {
    const Tensor h = relu(batch_norm(conv2d(x, 8, {3, 3}, a), norm_a, false));
    x = relu(x + batch_norm(conv2d(h, 8, {3, 3}, b), norm_b, false));
  }
  const Counted plan(l.g, {dense(reduce_mean(x, {1, 2}), 10, "out").id});
  EXPECT_EQ(plan.loops, 0);
  EXPECT_EQ(plan.norms, 0);
}

}  // namespace given_norm_test
}  // namespace crochet
